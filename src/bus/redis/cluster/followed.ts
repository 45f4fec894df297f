import type { ConnectionListener } from '../connection.ts';
import type { IsSubscribed } from './node-connections.ts';

/** Uses a connection to a node. */
export interface NodeFollower extends ConnectionListener {
  /** The node may have unsubscribed channels: it does not serve their slot any more, or did not for a while. */
  onMoved?(isSubscribed: IsSubscribed): void;
}

interface Followable {
  start(listener: ConnectionListener): void;
  stop(): void;
}

/** A connection that several slots use. It notifies each of them when it is made, and when it is lost. */
export class Followed<T extends Followable> {
  readonly connection: T;
  readonly #followers = new Set<NodeFollower>();
  #isReady = false;

  constructor(connection: T) {
    this.connection = connection;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  start(): void {
    this.connection.start({
      onReady: () => {
        this.#isReady = true;
        for (const follower of this.#followers) follower.onReady();
      },
      onLost: () => this.#lose(),
    });
  }

  stop(): void {
    this.#lose();
    this.connection.stop();
  }

  /** `onReady` is called at once if the connection is there. */
  follow(follower: NodeFollower): void {
    this.#followers.add(follower);
    if (this.#isReady) follower.onReady();
  }

  /** `onLost` is called at once if the connection is there. */
  unfollow(follower: NodeFollower): void {
    if (this.#followers.delete(follower) && this.#isReady) follower.onLost();
  }

  moved(isSubscribed: IsSubscribed): void {
    for (const follower of this.#followers) follower.onMoved?.(isSubscribed);
  }

  #lose(): void {
    if (!this.#isReady) return;
    this.#isReady = false;
    for (const follower of this.#followers) follower.onLost();
  }
}
