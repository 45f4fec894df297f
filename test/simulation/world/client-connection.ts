import type { Group } from '../../../src/hub/group.ts';
import type { SerializedResult } from '../../../src/hub/result.ts';
import type { Subscriber } from '../../../src/hub/subscriber.ts';
import type { RedisServers } from '../oracle/receiver.ts';
import type { Owner, VirtualTime } from '../time/virtual-time.ts';

/** The pod that a client is connected to. */
export interface ClientHost {
  readonly name: string;
  readonly owner: Owner;
  readonly isLive: boolean;
  /** The Redis servers that it is connected to now. */
  readonly servers: RedisServers;
  /** The client has left, or its connection is lost. */
  dismiss(connection: ClientConnection): void;
}

interface Options {
  readonly time: VirtualTime;
  readonly host: ClientHost;
  /** How long what is sent now is under way: ms. */
  readonly latencyMs: () => number;
  /** How long the client takes for a message; 0: it takes all at once. */
  readonly takesMs: number;
  readonly take: (json: string) => void;
  /** The client is told that the connection has ended. */
  readonly lost: () => void;
}

/** So many wait for a client that is behind; with more than the most, its pod closes the connection. */
const WAITING = { behind: 4, most: 24 };

/** One WebSocket of a client, with one subscription that resumes: to the hub a subscriber. */
export class ClientConnection implements Subscriber {
  readonly viewer = {};
  readonly owner: object = this;
  readonly wantsGaps = true;
  readonly host: ClientHost;
  group: Group | undefined;
  /** The client takes nothing more from it. */
  #isOver = false;
  /** The pod sends nothing more. */
  #isClosed = false;
  /** Sent, and not taken by the client. */
  #waiting = 0;
  /** The last thing sent arrives then. */
  #arrivesAt = 0;
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
    this.host = options.host;
  }

  get isBehind(): boolean {
    return this.#waiting >= WAITING.behind;
  }

  /** Its pod is there, and its client has taken all that was sent. */
  get isSettled(): boolean {
    return this.#waiting === 0 && !this.#isClosed && this.host.isLive;
  }

  deliver({ withCursor }: SerializedResult): void {
    if (this.#isClosed) return;
    const json = withCursor.json.toString();
    this.#waiting += 1;
    if (this.#waiting > WAITING.most) {
      this.reconnect();
      return;
    }
    const { takesMs, take } = this.#options;
    this.#arrive(takesMs, () => {
      this.#waiting -= 1;
      take(json);
    });
  }

  /** The pod closes the connection: the client is to connect again. */
  reconnect(): void {
    if (this.#isClosed) return;
    const { time, host } = this.#options;
    time.after(0, host.owner, () => host.dismiss(this));
    this.end();
  }

  end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#arrive(0, () => this.lose());
  }

  /** The client is told that it is over, or finds out. @param afterMs how long that takes */
  lose(afterMs = 0): void {
    this.#isClosed = true;
    this.#options.time.after(afterMs, undefined, () => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#options.lost();
    });
  }

  /** It is cut: what is under way is lost, and the pod is told later. */
  cut(): void {
    this.#isOver = true;
    const { time, latencyMs, host } = this.#options;
    time.after(latencyMs(), host.owner, () => {
      this.#isClosed = true;
      host.dismiss(this);
    });
  }

  /** Runs at the client, behind what was sent before. */
  #arrive(takesMs: number, run: () => void): void {
    const { time, latencyMs } = this.#options;
    this.#arrivesAt = Math.max(this.#arrivesAt, time.now + latencyMs()) + takesMs;
    time.at(this.#arrivesAt, undefined, () => {
      if (!this.#isOver) run();
    });
  }
}
