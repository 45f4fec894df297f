import type { CommittingPosition, PositionPolicy, TopicPartitionOffsetAndMetadata } from '#kafkajs';
import type { MemberOptions } from '../driver.ts';
import { resetsAfter, type Decision, type StartPositions } from '../start-positions.ts';

/** Stands for a position that was never committed. */
const NO_OFFSET = '-1';

interface DecidedTopic extends Decision {
  /** By partition: how often its position was reset. */
  readonly counts: number[];
  /** By partition: leader epoch of the record before its position. */
  readonly epochs: (number | undefined)[];
  /** Positions whose text does not name this pod's bus: they are committed again unchanged, and then removed here. */
  readonly unnamed: TopicPartitionOffsetAndMetadata[];
}

/** The positions of a kafkajs consumer in its partitions, and the text that goes with each commit. */
export class KafkajsPositions implements PositionPolicy {
  readonly #starts: StartPositions;
  readonly #options: Pick<MemberOptions, 'bus' | 'matched' | 'onPositionReset'>;
  /** By topic, as of the last join. */
  readonly #topics = new Map<string, DecidedTopic>();

  constructor(starts: StartPositions, options: Pick<MemberOptions, 'bus' | 'matched' | 'onPositionReset'>) {
    this.#starts = starts;
    this.#options = options;
  }

  decide({
    topic,
    topicId,
    positions,
  }: Parameters<PositionPolicy['decide']>[0]): ReturnType<PositionPolicy['decide']> {
    const decision = this.#starts.decide({
      topic,
      topicId: topicId ?? undefined,
      positions: positions.map(({ partition, offset, metadata }) => ({
        partition,
        offset: offset === NO_OFFSET ? undefined : Number(offset),
        metadata,
      })),
      matched: this.#options.matched?.(topic),
      bus: this.#options.bus,
    });
    const counts: number[] = [];
    const epochs: (number | undefined)[] = [];
    for (const { partition } of positions) {
      const { resets, leaderEpoch } = decision.log(partition);
      counts[partition] = resets;
      epochs[partition] = leaderEpoch;
    }
    const unnamed = positions.filter(({ partition }) => decision.isUnnamed(partition));
    this.#topics.set(topic, {
      ...decision,
      counts,
      epochs,
      unnamed: unnamed.map(({ partition, offset }) => ({
        topic,
        partition,
        offset,
        metadata: decision.metadata(decision.log(partition)),
      })),
    });
    const leaderEpoch = (partition: number) => decision.log(partition).leaderEpoch ?? -1;
    return { start: decision.start, leaderEpoch };
  }

  metadata({ topic, partition, leaderEpoch: epoch, to }: CommittingPosition): string {
    const count = this.resets(topic, partition);
    const resets = to === undefined ? count : resetsAfter(count, to);
    const leaderEpoch = epoch < 0 ? undefined : epoch;
    const decided = this.#topics.get(topic);
    if (decided !== undefined) decided.epochs[partition] = leaderEpoch;
    return decided?.metadata({ resets, leaderEpoch }) ?? '';
  }

  onReset({ topic, partition, position, to, offset }: Parameters<PositionPolicy['onReset']>[0]): void {
    const counts = this.#topics.get(topic)?.counts;
    if (counts !== undefined) counts[partition] = resetsAfter(this.resets(topic, partition), to);
    this.#options.onPositionReset({
      topic,
      partition,
      position: Number(position),
      to,
      offset: Number(offset),
    });
  }

  /** How often the partition's position was reset. */
  resets(topic: string, partition: number): number {
    return this.#topics.get(topic)?.counts[partition] ?? 0;
  }

  /** The leader epoch of the record before the partition's position. Undefined: not known. */
  leaderEpoch(topic: string, partition: number): number | undefined {
    return this.#topics.get(topic)?.epochs[partition];
  }

  /** How many partitions the topic had at the last join. */
  partitions(topic: string): number {
    return this.#topics.get(topic)?.counts.length ?? 0;
  }

  /** @returns positions to be committed again unchanged, each once */
  takeUnnamed(): readonly TopicPartitionOffsetAndMetadata[] {
    return [...this.#topics.values()].flatMap(({ unnamed }) => unnamed.splice(0));
  }
}
