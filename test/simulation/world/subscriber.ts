import type { SerializedResult } from '../../../src/hub/result.ts';
import type { Subscriber } from '../../../src/hub/subscriber.ts';
import { Receiver, type Received } from '../oracle/receiver.ts';
import type { Asked } from './graph.ts';

interface Options {
  readonly name: string;
  readonly asked: Asked;
  /** Whether the subscriber is told of gaps by a result; if not, it must connect again. */
  readonly wantsGaps: boolean;
  readonly pod: string;
  readonly now: () => number;
  readonly onDelivery: (number: number) => void;
}

/** A client of one pod, which records its events. It has joined when Redis has acknowledged its channels. */
export class SimulatedSubscriber extends Receiver implements Subscriber {
  readonly viewer = {};
  readonly owner: object = this;
  readonly wantsGaps: boolean;
  readonly isBehind = false;
  readonly pod: string;
  readonly #options: Options;

  constructor(options: Options) {
    super(options.name, options.asked);
    this.#options = options;
    this.wantsGaps = options.wantsGaps;
    this.pod = options.pod;
    this.beganAt = options.now();
  }

  deliver({ json }: SerializedResult): void {
    const result = JSON.parse(json.toString()) as Received;
    if (result.extensions?.gap?.topic === this.asked.topic) {
      this.reconnect();
      return;
    }
    const number = this.note(result);
    if (number !== undefined) this.#options.onDelivery(number);
  }

  /** A real client would connect again; this one stays, to see which further events it gets. */
  reconnect(): void {
    const at = this.#options.now();
    this.told.push({ at, afterMs: at - (this.joinedAt ?? at) });
  }

  end(): void {
    this.endedAt ??= this.#options.now();
  }
}
