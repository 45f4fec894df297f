import type { Group } from '../../../src/hub/group.ts';
import type { SerializedResult } from '../../../src/hub/result.ts';
import type { Subscriber } from '../../../src/hub/subscriber.ts';
import type { Delivery, Telling } from '../oracle/receiver.ts';
import type { FieldName, TopicName } from './graph.ts';

interface Options {
  readonly name: string;
  /** Whether it is told by a result; if not, by being sent away. */
  readonly wantsGaps: boolean;
  readonly pod: string;
  readonly field: FieldName;
  readonly topic: TopicName;
  /** Undefined: all channels. */
  readonly channels: readonly string[] | undefined;
  readonly now: () => number;
  readonly onDelivery: (delivery: Delivery) => void;
}

/** A client of one pod, which writes down what it gets. */
export class SimulatedSubscriber implements Subscriber {
  readonly viewer = {};
  readonly owner: object = this;
  readonly wantsGaps: boolean;
  readonly isBehind = false;
  readonly name: string;
  readonly pod: string;
  readonly field: FieldName;
  readonly topic: TopicName;
  readonly channels: readonly string[] | undefined;
  readonly deliveries: Delivery[] = [];
  /** Results that are no events. */
  readonly faults: string[] = [];
  /** When it was told that events may be missing. */
  readonly told: Telling[] = [];
  group: Group | undefined;
  /** When Redis had acknowledged its channels. */
  joinedAt: number | undefined;
  endedAt: number | undefined;
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
    this.wantsGaps = options.wantsGaps;
    this.name = options.name;
    this.pod = options.pod;
    this.field = options.field;
    this.topic = options.topic;
    this.channels = options.channels;
  }

  deliver({ json }: SerializedResult): void {
    const result = JSON.parse(json.toString()) as {
      readonly data?: Readonly<Record<string, { readonly number?: number } | null>> | null;
      readonly extensions?: { readonly gap?: { readonly topic: string } };
    };
    if (result.extensions?.gap?.topic === this.topic) {
      this.#tell();
      return;
    }
    const number = result.data?.[this.topic]?.number;
    if (number === undefined) {
      this.faults.push(json.toString());
      return;
    }
    const delivery = { number, tellings: this.told.length };
    this.deliveries.push(delivery);
    this.#options.onDelivery(delivery);
  }

  /** A real client would; this one stays, to see what else it gets. */
  reconnect(): void {
    this.#tell();
  }

  #tell(): void {
    const at = this.#options.now();
    this.told.push({ at, afterMs: at - (this.joinedAt ?? at) });
  }

  end(): void {
    this.endedAt ??= this.#options.now();
  }

  wants(topic: TopicName, channel: string): boolean {
    return topic === this.topic && (this.channels === undefined || this.channels.includes(channel));
  }
}
