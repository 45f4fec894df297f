import { logEpoch } from '../../../src/events/log-position.ts';
import type { GroupMember, MemberOptions, PartitionPosition } from '../../../src/ingest/kafka/driver.ts';
import { resetsAfter, type StartPositions } from '../../../src/ingest/kafka/start-positions.ts';
import type { SimulatedKafka, StoredRecord } from './cluster.ts';
import type { Joined, TopicPartition } from './group.ts';
import type { Requests } from './requests.ts';

/** The member has to join its group again. */
class Rejoin extends Error {}

/** The policy of src/ingest/kafka. */
export type Starts = Pick<StartPositions, 'decide'>;

interface Options {
  readonly kafka: SimulatedKafka;
  readonly requests: Requests;
  readonly starts: Starts;
  readonly id: string;
  readonly member: MemberOptions;
}

/** What the member has of one partition. */
interface Assigned extends TopicPartition {
  /** To go with each commit. */
  readonly metadata: string;
  /** How often its position was reset. */
  readonly resets: number;
  position: number;
  highWatermark: number | undefined;
  paused: boolean;
}

interface Fetched {
  readonly at: Assigned;
  readonly records: readonly StoredRecord[];
  readonly highWatermark: number;
}

/** Most records that one fetch brings. */
const FETCHED = 10;

export class SimulatedMember implements GroupMember {
  readonly #kafka: SimulatedKafka;
  readonly #requests: Requests;
  readonly #starts: Starts;
  readonly #options: MemberOptions;
  readonly #id: string;
  #generation = 0;
  #assigned: Assigned[] = [];
  /** All partitions that there were at the last look. */
  #metadata = '';
  #metadataAt = -Infinity;
  #heartbeatAt = -Infinity;
  #next = 0;
  #stopped = false;
  #crashed = false;
  /** Until the member neither joins nor consumes any more. */
  #loop: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  constructor({ kafka, requests, starts, id, member }: Options) {
    this.#kafka = kafka;
    this.#requests = requests;
    this.#starts = starts;
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

  positions(): readonly PartitionPosition[] {
    return this.#assigned.map(({ topic, partition, position, highWatermark }) => ({
      topic,
      partition,
      position,
      highWatermark,
    }));
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
    const assignment: Record<string, number[]> = {};
    for (const { topic, partition } of this.#assigned) (assignment[topic] ??= []).push(partition);
    onAssigned(assignment);
  }

  /** Settles where each partition starts, and commits it. */
  async #assign(partitions: readonly TopicPartition[]): Promise<Assigned[]> {
    const { groupId, topics, bus, onPositionReset } = this.#options;
    const seen = await this.#requests.send(() => {
      return topics.filter((topic) => this.#kafka.has(topic)).map((topic) => this.#look(topic));
    });
    const assigned: Assigned[] = [];
    const settled: Assigned[] = [];
    for (const { at, ends } of seen) {
      const { topic, topicId, positions } = at;
      const { start, metadata, isUnnamed, log } = this.#starts.decide({ ...at, bus });
      for (const { partition } of partitions.filter((one) => one.topic === topic)) {
        const end = ends[partition];
        // A topic that is made anew may have fewer.
        if (end === undefined) continue;
        const committed = positions[partition]?.offset ?? 0;
        const from = start(partition);
        const wanted = from === 'position' ? committed : from === 'end' ? end : 0;
        if (wanted > end) onPositionReset({ topic, partition, position: wanted, to: 'end', offset: end });
        const position = Math.min(wanted, end);
        const before = log(partition);
        const resets = wanted > end ? resetsAfter(before.resets, 'end') : before.resets;
        const place = {
          topic,
          topicId,
          partition,
          metadata: metadata({ ...before, resets }),
          resets,
          position,
        };
        const one = { ...place, highWatermark: undefined, paused: false };
        assigned.push(one);
        if (from !== 'position' || wanted > end || isUnnamed(partition)) settled.push(one);
      }
    }
    await this.#requests.send(() => {
      const group = this.#kafka.group(groupId);
      for (const at of settled) {
        group.commit(this.#id, this.#generation, at, { offset: at.position, metadata: at.metadata });
      }
    });
    return assigned;
  }

  /** At the broker: what the group has of a topic, and how far each of its partitions reaches. */
  #look(topic: string) {
    const group = this.#kafka.group(this.#options.groupId);
    const { id, partitions } = this.#kafka.topic(topic);
    const positions = partitions.map((_, partition) => {
      const committed = group.committed({ topic, partition });
      return { partition, offset: committed?.offset, metadata: committed?.metadata ?? null };
    });
    return { at: { topic, topicId: id, positions }, ends: partitions.map(({ length }) => length) };
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
    const { at, records, highWatermark } = ready;
    at.highWatermark = highWatermark;
    if (this.#stopped) return;
    const generation = this.#generation;
    const { topic, topicId, partition, resets } = at;
    await this.#options.onBatch({
      topic,
      partition,
      records: records.map(({ headers, leaderEpoch, ...record }) => {
        return { ...record, topic, topicId, partition, epoch: logEpoch(leaderEpoch, resets), headers };
      }),
      bad: undefined,
      highWatermark,
      heartbeat: () => this.#heartbeat(),
      commit: (offset) => this.#commit(at, offset, generation),
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

  /** At the broker: the next partition in turn that has something. */
  #fetch(): Fetched | 'made anew' | undefined {
    for (let tried = 0; tried < this.#assigned.length; tried += 1) {
      const at = this.#assigned[this.#next % this.#assigned.length];
      this.#next += 1;
      if (at === undefined || at.paused) continue;
      // While there is no such topic, its partitions wait.
      if (!this.#kafka.has(at.topic)) continue;
      const topic = this.#kafka.topic(at.topic);
      if (topic.id !== at.topicId) return 'made anew';
      const log = topic.partitions[at.partition] ?? [];
      const records = log.slice(at.position, at.position + FETCHED);
      if (records.length > 0) return { at, records, highWatermark: log.length };
    }
    return undefined;
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
    const answer = await this.#requests.send(() =>
      this.#kafka.group(groupId).heartbeat(this.#id, generation),
    );
    this.#heartbeatAt = time.now;
    this.#options.onAnswer();
    if (answer !== 'ok') throw new Rejoin(answer);
  }

  async #commit(at: Assigned, offset: number, generation: number): Promise<void> {
    const answer = await this.#requests.send(() =>
      this.#kafka
        .group(this.#options.groupId)
        .commit(this.#id, generation, at, { offset, metadata: at.metadata }),
    );
    this.#options.onAnswer();
    if (answer !== 'ok') throw new Rejoin(answer);
    at.position = offset;
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
