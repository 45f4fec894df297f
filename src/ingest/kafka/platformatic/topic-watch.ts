import { systemClock } from '../../../support/clock.ts';
import type { Cluster, TopicLayout } from './cluster.ts';
import { CODE, KafkaError } from './kafka-error.ts';
import type { MemberPartition } from './member-partition.ts';

interface TopicWatchOptions {
  readonly cluster: Cluster;
  /** The layouts before the join. */
  readonly layouts: ReadonlyMap<string, TopicLayout>;
  /** The partitions of the member. */
  readonly partitions: readonly MemberPartition[];
  readonly maxAgeMs: number;
  /** Called after each look: brokers may lead other partitions than before. */
  readonly onLooked: (layouts: ReadonlyMap<string, TopicLayout>) => void;
  /** Called when the member has to join again. */
  readonly onChanged: (error: KafkaError) => void;
  /** Aborts when the session ends. */
  readonly signal: AbortSignal;
}

/** How long a partition rests if no broker could answer for it. */
export const REST_MS = 300;

/** Looks which brokers lead which partitions, and whether topics are as they were at the join. */
export class TopicWatch {
  readonly #options: TopicWatchOptions;
  #looking: Promise<void> | undefined;

  constructor(options: TopicWatchOptions) {
    this.#options = options;
  }

  /** Looks every `maxAgeMs`, until the session ends. */
  async watch(): Promise<void> {
    const { maxAgeMs, signal } = this.#options;
    for (;;) {
      await systemClock.sleep(maxAgeMs, signal);
      if (signal.aborted) return;
      await this.look();
    }
  }

  /** Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { cluster, layouts: before, partitions, onLooked, onChanged } = this.#options;
    try {
      const now = await cluster.topics([...before.keys()]);
      for (const [topic, { uuid, leaders }] of before) {
        const found = now.get(topic);
        if (found?.uuid === uuid && found.leaders.length === leaders.length) continue;
        const message = `${topic} has other partitions than before the join`;
        onChanged(new KafkaError(message, { isRetriable: true }));
        return;
      }
      onLooked(now);
      const isLed = ({ topic, partition }: MemberPartition) =>
        (now.get(topic)?.leaders[partition] ?? -1) >= 0;
      if (!partitions.every(isLed)) void this.#lookSoon();
    } catch (thrown) {
      if (thrown instanceof KafkaError && thrown.has(CODE.unknownTopic)) onChanged(thrown);
    }
  }

  /** A partition without a leader is not fetched, so no failed fetch would cause a look for its leader. */
  async #lookSoon(): Promise<void> {
    const { signal } = this.#options;
    await systemClock.sleep(REST_MS, signal);
    if (!signal.aborted) await this.look();
  }
}
