import { logEpoch } from '../../../src/events/log-position.ts';
import type {
  GroupDescription,
  GroupMember,
  MemberOptions,
  PartitionPosition,
} from '../../../src/ingest/kafka/driver.ts';
import { resetsAfter } from '../../../src/ingest/kafka/start-positions.ts';
import type { KafkaRecord } from '../../../src/ingest/record.ts';
import type { Assigned } from './assigned.ts';
import type { SimulatedKafka, StoredRecord } from './cluster.ts';
import type { Joined, TopicPartition } from './group.ts';
import { goesOnAt, lostOf, type Lost } from './lost-log.ts';
import { TopicMissing, type Requests } from './requests.ts';
import { lookAt, placesIn, type Starts } from './starting.ts';

/** Thrown when the member must join its group again. */
class Rejoin extends Error {}

/** Options that all members of a pod share. */
export interface ClientOptions {
  readonly starts: Starts;
  /** Whether fetches send the last consumed record's epoch, as `@platformatic/kafka` does; kafkajs does not. */
  readonly namesEpochs: boolean;
  /** Changes a record before the member hands it over. */
  readonly received?: ((record: KafkaRecord, presentEpoch: number) => KafkaRecord) | undefined;
  /** Called with each description of a group that the client gets. */
  readonly onDescribed?: ((group: GroupDescription) => void) | undefined;
}

interface Options extends ClientOptions {
  readonly kafka: SimulatedKafka;
  readonly requests: Requests;
  readonly id: string;
  readonly member: MemberOptions;
}

interface Fetched {
  readonly at: Assigned;
  readonly records: readonly StoredRecord[];
  readonly highWatermark: number;
  /** The partition's leader epoch. */
  readonly leaderEpoch: number;
}

/** The most records of one fetch. */
const FETCHED = 10;

export class SimulatedMember implements GroupMember {
  readonly #kafka: SimulatedKafka;
  readonly #requests: Requests;
  readonly #client: ClientOptions;
  readonly #options: MemberOptions;
  readonly #id: string;
  #generation = 0;
  #assigned: Assigned[] = [];
  /** All partitions at the last look. */
  #metadata = '';
  #metadataAt = -Infinity;
  #heartbeatAt = -Infinity;
  confirmedAt = -Infinity;
  #next = 0;
  #stopped = false;
  #crashed = false;
  /** Resolves when the member neither joins nor consumes any more. */
  #loop: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  constructor({ kafka, requests, id, member, ...client }: Options) {
    this.#kafka = kafka;
    this.#requests = requests;
    this.#client = client;
    this.#id = id;
    this.#options = member;
  }

  run(): Promise<Error> {
    return new Promise((resolve) => {
      this.#loop = this.#consumeAlways().catch((thrown: unknown) => {
        this.#crashed = true;
        resolve(thrown instanceof Error ? thrown : new Error(String(thrown)));
      });
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#loop;
    const { groupId } = this.#options;
    await this.#requests.send(() => this.#kafka.group(groupId).leave(this.#id)).catch(() => undefined); // The session ends by itself.
  }

  positions(wanted?: string): readonly PartitionPosition[] {
    return this.#assigned.flatMap((at) => {
      const { topic, topicId, partition, partitions, resets, position, highWatermark } = at;
      const leaderEpoch = at.knownEpoch;
      const isWanted = wanted === undefined || topic === wanted;
      const one = { topic, topicId, partition, partitions, resets, leaderEpoch, position, highWatermark };
      return isWanted ? [one] : [];
    });
  }

  async #consumeAlways(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#join();
        while (!this.#stopped) await this.#poll();
      } catch (thrown) {
        if (!(thrown instanceof Rejoin)) throw thrown;
      }
    }
  }

  async #join(): Promise<void> {
    const { groupId, topics, timing, onAssigned } = this.#options;
    const { sessionTimeoutMs, rebalanceTimeoutMs } = timing;
    this.#assigned = [];
    const joined = await this.#requests.wait<Joined>((reply) =>
      this.#kafka
        .group(groupId)
        .join({ member: this.#id, topics, sessionTimeoutMs, rebalanceTimeoutMs, reply }),
    );
    this.#options.onAnswer();
    this.#generation = joined.generation;
    this.#metadata = this.#describe(joined.all);
    this.#assigned = await this.#assign(joined.partitions);
    this.#metadataAt = this.#kafka.time.now;
    this.#heartbeatAt = this.#kafka.time.now;
    this.confirmedAt = this.#heartbeatAt;
    const assignment: Record<string, number[]> = {};
    for (const { topic, partition } of this.#assigned) (assignment[topic] ??= []).push(partition);
    onAssigned(assignment);
  }

  /** Finds where each partition starts, and commits that position. */
  async #assign(partitions: readonly TopicPartition[]): Promise<Assigned[]> {
    const { groupId, topics } = this.#options;
    const group = this.#kafka.group(groupId);
    const seen = await this.#requests.send(() => {
      return topics
        .filter((topic) => this.#kafka.has(topic))
        .map((name) => lookAt(this.#kafka.topic(name), group));
    });
    if (seen.length < topics.length) throw new TopicMissing(topics);
    const places = seen.flatMap((topic) => placesIn(topic, partitions, this.#client.starts, this.#options));
    await this.#requests.send(() => {
      for (const { at, isSettled } of places) {
        const { position: offset, leaderEpoch } = at;
        const metadata = at.metadata(at);
        if (!isSettled) group.commit(this.#id, this.#generation, at, { offset, metadata, leaderEpoch });
      }
    });
    return places.map(({ at }) => at);
  }

  async #poll(): Promise<void> {
    await this.#heartbeat();
    await this.#refreshMetadata();
    const ready = await this.#requests.send(() => this.#fetch());
    this.#options.onAnswer();
    if (ready === 'made anew') throw new Rejoin('a topic was made anew');
    if (ready === undefined) {
      if (!this.#stopped) await this.#waitForRecords();
      return;
    }
    if (this.#stopped) return;
    const { at } = ready;
    if ('to' in ready) {
      await this.#reset(ready);
      return;
    }
    const { records, highWatermark, leaderEpoch } = ready;
    const { received = (record) => record } = this.#client;
    at.highWatermark = highWatermark;
    const generation = this.#generation;
    const { topic, topicId, partition, resets } = at;
    await this.#options.onBatch({
      topic,
      partition,
      records: records.map(({ headers, leaderEpoch: given, ...record }) => {
        const epoch = logEpoch(given, resets);
        return received({ ...record, topic, topicId, partition, epoch, headers }, leaderEpoch);
      }),
      bad: undefined,
      highWatermark,
      heartbeat: () => this.#heartbeat(),
      commit: (offset) =>
        this.#commit(
          at,
          offset,
          records.findLast((record) => record.offset < offset)?.leaderEpoch,
          generation,
        ),
      isAssigned: () => generation === this.#generation && this.#assigned.includes(at),
      isRunning: () => !this.#stopped && !this.#crashed,
      pause: () => {
        at.paused = true;
        return () => {
          at.paused = false;
          this.#wake();
        };
      },
    });
  }

  /** The broker's choice: the next partition in turn that has records. */
  #fetch(): Fetched | Lost | 'made anew' | undefined {
    for (let tried = 0; tried < this.#assigned.length; tried += 1) {
      const at = this.#assigned[this.#next % this.#assigned.length];
      this.#next += 1;
      if (at === undefined || at.paused) continue;
      // The partitions of a missing topic wait.
      if (!this.#kafka.has(at.topic)) continue;
      const topic = this.#kafka.topic(at.topic);
      if (topic.id !== at.topicId) return 'made anew';
      const log = topic.partitions[at.partition] ?? [];
      const lost = lostOf(this.#kafka, at, log, this.#client);
      if (lost !== undefined) return lost;
      const records = log.slice(at.position, at.position + FETCHED);
      const { leaderEpoch } = topic;
      if (records.length > 0) return { at, records, highWatermark: log.length, leaderEpoch };
    }
    return undefined;
  }

  /** Moves the partition's position to where its log goes on. */
  async #reset({ at, to }: Lost): Promise<void> {
    const { topic, partition, position } = at;
    const found = await this.#requests.send(() => goesOnAt(this.#kafka, { at, to }));
    if (found === undefined) return;
    const { offset, leaderEpoch } = found;
    const resets = resetsAfter(at.resets, to);
    await this.#commit(at, offset, leaderEpoch, this.#generation, resets);
    this.#options.onPositionReset({ topic, partition, position, to, offset });
  }

  #waitForRecords(): Promise<void> {
    return new Promise((resolve) => {
      const { time } = this.#kafka;
      const { pod } = this.#requests;
      const ended = (): void => {
        stop();
        time.cancel(timer);
        this.#wake = () => undefined;
        resolve();
      };
      this.#wake = ended;
      const stop = this.#kafka.onProduce(() => {
        stop();
        time.after(1, pod, ended);
      });
      const timer = time.after(this.#options.timing.fetchWaitMs, pod, ended);
    });
  }

  async #heartbeat(): Promise<void> {
    const { time } = this.#kafka;
    const { groupId, timing } = this.#options;
    if (time.now - this.#heartbeatAt < timing.heartbeatMs) return;
    const generation = this.#generation;
    const sentAt = time.now;
    const answer = await this.#requests.send(() =>
      this.#kafka.group(groupId).heartbeat(this.#id, generation),
    );
    this.#heartbeatAt = time.now;
    this.#options.onAnswer();
    if (answer !== 'ok') throw new Rejoin(answer);
    this.confirmedAt = sentAt;
  }

  /** @param leaderEpoch of the record before the offset */
  async #commit(
    at: Assigned,
    offset: number,
    leaderEpoch: number | undefined,
    generation: number,
    resets = at.resets,
  ): Promise<void> {
    const metadata = at.metadata({ resets, leaderEpoch });
    const answer = await this.#requests.send(() => {
      if (!this.#kafka.has(at.topic)) return 'unknown topic';
      const group = this.#kafka.group(this.#options.groupId);
      return group.commit(this.#id, generation, at, { offset, metadata, leaderEpoch });
    });
    this.#options.onAnswer();
    if (answer !== 'ok') throw new Rejoin(answer);
    at.position = offset;
    at.leaderEpoch = leaderEpoch;
    at.knownEpoch = leaderEpoch;
    at.resets = resets;
  }

  async #refreshMetadata(): Promise<void> {
    const { time } = this.#kafka;
    if (time.now - this.#metadataAt < this.#options.timing.metadataMaxAgeMs) return;
    const metadata = await this.#requests.send(() =>
      this.#describe(this.#kafka.partitionsOf(this.#options.topics)),
    );
    this.#metadataAt = time.now;
    if (metadata !== this.#metadata) throw new Rejoin('there are other partitions than before');
  }

  #describe(partitions: readonly TopicPartition[]): string {
    return partitions
      .filter(({ topic }) => this.#options.topics.includes(topic))
      .map(({ topicId, partition }) => `${topicId}/${partition}`)
      .join();
  }
}
