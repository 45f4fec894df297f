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
  /** The Redis servers that the pod is connected to now. */
  readonly servers: RedisServers;
  /** Called when the client has left, or its connection is lost. */
  dismiss(connection: ClientConnection): void;
}

interface Options {
  readonly time: VirtualTime;
  readonly host: ClientHost;
  /** Returns how long a message that is sent now is under way, in ms. */
  readonly latencyMs: () => number;
  /** The time that the client takes for a message; 0: it takes all messages at once. */
  readonly takesMs: number;
  readonly take: (json: string) => void;
  /** Called when the client learns that the connection has ended. */
  readonly lost: () => void;
}

/** Messages that wait for a client: with `behind` it is behind; beyond `most`, its pod closes the connection. */
const WAITING = { behind: 4, most: 24 };

/** One WebSocket of a client, with one subscription that resumes; for the hub it is a subscriber. */
export class ClientConnection implements Subscriber {
  readonly viewer = {};
  readonly owner: object = this;
  readonly wantsGaps = true;
  readonly host: ClientHost;
  group: Group | undefined;
  /** The client takes no more messages from it. */
  #isOver = false;
  /** The pod sends no more messages. */
  #isClosed = false;
  /** Messages that were sent, and that the client has not taken. */
  #waiting = 0;
  /** When the last message arrives. */
  #arrivesAt = 0;
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
    this.host = options.host;
  }

  get isBehind(): boolean {
    return this.#waiting >= WAITING.behind;
  }

  /** Whether the pod lives and the client has taken all messages. */
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

  /** The pod closes the connection, so that the client connects again. */
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

  /** The client learns that the connection has ended. @param afterMs after this time */
  lose(afterMs = 0): void {
    this.#isClosed = true;
    this.#options.time.after(afterMs, undefined, () => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#options.lost();
    });
  }

  /** Cuts the connection: messages under way are lost, and the pod is told later. */
  cut(): void {
    this.#isOver = true;
    const { time, latencyMs, host } = this.#options;
    time.after(latencyMs(), host.owner, () => {
      this.#isClosed = true;
      host.dismiss(this);
    });
  }

  /** Runs at the client, after all messages that were sent before. */
  #arrive(takesMs: number, run: () => void): void {
    const { time, latencyMs } = this.#options;
    this.#arrivesAt = Math.max(this.#arrivesAt, time.now + latencyMs()) + takesMs;
    time.at(this.#arrivesAt, undefined, () => {
      if (!this.#isOver) run();
    });
  }
}
