import type { Log } from '../../../log.ts';
import { systemClock } from '../../../support/clock.ts';
import type { Cluster, TopicLayout } from './cluster.ts';
import type { Connections } from './connections.ts';
import { fetchFrom } from './fetch-from.ts';
import type { FetchedPartition } from './fetch-response.ts';
import { groupBy } from './group-by.ts';
import type { KafkaError } from './kafka-error.ts';
import type { MemberPartition } from './member-partition.ts';

interface FetcherOptions {
  readonly cluster: Cluster;
  readonly layouts: ReadonlyMap<string, TopicLayout>;
  readonly partitions: readonly MemberPartition[];
  readonly fetchWaitMs: number;
  /** Called when a partition has something to hand over, or an error. */
  readonly onFetched: (partition: MemberPartition, fetched: FetchedPartition) => void;
  /** Called when a fetch has failed: brokers may lead other partitions now. */
  readonly onFailed: (error: KafkaError) => void;
  readonly log: Log;
}

/** What a broker sends of a partition at once; a single record batch may be larger. */
const PARTITION_BYTES = 256 * 1_024;
const FETCH_BYTES = 1_024 * 1_024;

const RETRY_MS = 300;

/**
 * Fetches from each broker that leads partitions of the member, one fetch at a time. The next fetch runs while the last
 * records are processed: a broker is asked again once all that it sent has been taken.
 */
export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #connections: Connections;
  readonly #stopping = new AbortController();
  readonly #busy = new Set<number>();
  /** By broker: why it was last out of reach, which is logged once. */
  readonly #failures = new Map<number, string>();
  /** In request order: a partition that had records moves to the end, after the others of its topic. */
  readonly #order: Set<MemberPartition>;
  /** Replicas in the pod's own rack, named by leaders: they are asked in place of the leaders. */
  readonly #replicas = new Map<MemberPartition, number>();
  #layouts: ReadonlyMap<string, TopicLayout>;

  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#connections = options.cluster.connections();
    this.#order = new Set(options.partitions);
    this.#layouts = options.layouts;
  }

  /** Brokers may lead other partitions than before. */
  use(layouts: ReadonlyMap<string, TopicLayout>): void {
    this.#layouts = layouts;
    this.#replicas.clear();
    this.fetch();
  }

  /** Asks those brokers that are idle. */
  fetch(): void {
    if (this.#stopping.signal.aborted) return;
    for (const [node, held] of groupBy(this.#order, (each) => this.#nodeOf(each))) {
      if (node < 0 || this.#busy.has(node) || held.some(({ isWaiting }) => isWaiting)) continue;
      const wanted = held.filter(({ isPaused }) => !isPaused);
      if (wanted.length > 0) void this.#fetchFrom(node, wanted);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#connections.close();
  }

  async #fetchFrom(node: number, wanted: readonly MemberPartition[]): Promise<void> {
    this.#busy.add(node);
    const asked = new Map(wanted.map((each) => [each, each.fetchOffset]));
    try {
      const fetched = await this.#ask(node, wanted);
      this.#busy.delete(node);
      this.#failures.delete(node);
      for (const each of fetched) this.#take(each, asked);
    } catch (thrown) {
      if (this.#stopping.signal.aborted) return;
      for (const each of wanted) this.#replicas.delete(each);
      this.#tell(node, thrown as KafkaError);
      this.#options.onFailed(thrown as KafkaError);
      await systemClock.sleep(RETRY_MS, this.#stopping.signal);
      this.#busy.delete(node);
    }
    this.fetch();
  }

  /** An error that is not retriable is logged when the member crashes. */
  #tell(broker: number, { message, isRetriable }: KafkaError): void {
    if (!isRetriable || this.#failures.get(broker) === message) return;
    this.#failures.set(broker, message);
    this.#options.log.warn(
      { broker, reason: message },
      'a broker sends no events; asking again until it does',
    );
  }

  async #ask(node: number, wanted: readonly MemberPartition[]): Promise<readonly FetchedPartition[]> {
    const { cluster, fetchWaitMs } = this.#options;
    return fetchFrom(cluster, this.#connections, node, {
      rack: cluster.rack,
      waitMs: fetchWaitMs,
      maxBytes: FETCH_BYTES,
      partitions: wanted.map(({ topic, partition, fetchOffset, fetchedEpoch }) => ({
        uuid: this.#layouts.get(topic)?.uuid ?? '',
        partition,
        from: fetchOffset,
        leaderEpoch: fetchedEpoch,
        maxBytes: PARTITION_BYTES,
      })),
    });
  }

  #take(fetched: FetchedPartition, asked: ReadonlyMap<MemberPartition, number>): void {
    const { uuid, partition, errorCode, records, preferredReplica, divergesAt } = fetched;
    const found = [...asked.keys()].find(
      (each) => each.partition === partition && this.#layouts.get(each.topic)?.uuid === uuid,
    );
    // While the broker was asked, the partition's position was moved, or it was paused: it is fetched again.
    if (found === undefined || found.fetchOffset !== asked.get(found) || found.isPaused) return;
    // A replica may lag behind its leader, which has the last word.
    if ((errorCode !== 0 || divergesAt !== undefined) && this.#replicas.delete(found)) return;
    if (preferredReplica >= 0) this.#replicas.set(found, preferredReplica);
    if (errorCode === 0 && records.length > 0) this.#putLast(found);
    this.#options.onFetched(found, fetched);
  }

  /**
   * A request lists partitions by topic, and only the first one that has something gets a batch that is larger than
   * PARTITION_BYTES: a topic whose other partitions are idle would come first for ever.
   */
  #putLast(partition: MemberPartition): void {
    const others = [...this.#order].filter((each) => each.topic === partition.topic && each !== partition);
    for (const each of [...others, partition]) {
      this.#order.delete(each);
      this.#order.add(each);
    }
  }

  #nodeOf(each: MemberPartition): number {
    return this.#replicas.get(each) ?? this.#layouts.get(each.topic)?.leaders[each.partition] ?? -1;
  }
}
