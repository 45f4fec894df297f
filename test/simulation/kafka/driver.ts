import { logEpoch } from '../../../src/events/log-position.ts';
import type { DeadLetterMessage } from '../../../src/ingest/dead-letter.ts';
import type {
  GroupDescription,
  GroupMember,
  KafkaDriver,
  MemberOptions,
  RecordRange,
  StoppableSink,
  TakeRecords,
} from '../../../src/ingest/kafka/driver.ts';

import type { KafkaRecord } from '../../../src/ingest/record.ts';
import type { Random } from '../../helpers/random.ts';
import type { Owner } from '../time/virtual-time.ts';
import type { SimulatedKafka } from './cluster.ts';
import { SimulatedMember, type ClientOptions } from './member.ts';
import { BrokersAway, Requests, TopicMissing } from './requests.ts';

/** The Kafka client of one pod. */
export class SimulatedDriver implements KafkaDriver {
  readonly #kafka: SimulatedKafka;
  readonly #requests: Requests;
  readonly #pod: Owner;
  readonly #client: ClientOptions;
  #members = 0;

  /** @param client `starts` must be new for each process */
  constructor(kafka: SimulatedKafka, pod: Owner, random: Random, client: ClientOptions) {
    this.#kafka = kafka;
    this.#pod = pod;
    this.#client = client;
    this.#requests = new Requests(kafka, pod, random);
  }

  missingTopics(wanted: readonly string[]): Promise<readonly string[]> {
    return this.#requests.send(() => wanted.filter((topic) => !this.#kafka.has(topic)));
  }

  topics(): Promise<readonly string[]> {
    return this.#requests.send(() => this.#kafka.names());
  }

  forgetGroup(groupId: string): Promise<boolean> {
    return this.#requests.send(() => this.#kafka.forgetGroup(groupId));
  }

  describeGroup(groupId: string, topics: readonly string[]): Promise<GroupDescription> {
    return this.#requests.send(() => {
      const group = this.#kafka.group(groupId).describe(this.#kafka.partitionsOf(topics));
      this.#client.onDescribed?.(group);
      return group;
    });
  }

  member(options: MemberOptions): GroupMember {
    this.#members += 1;
    return new SimulatedMember({
      kafka: this.#kafka,
      requests: this.#requests,
      ...this.#client,
      id: `${this.#pod.name}/${this.#members}`,
      member: options,
    });
  }

  deadLetterSink(topic: string): StoppableSink {
    const send = (messages: readonly DeadLetterMessage[]): Promise<void> =>
      this.#requests.send(() => {
        for (const message of messages) this.#kafka.produce(topic, 0, message);
      });
    return { send, stop: () => Promise.resolve() };
  }

  async read(
    name: string,
    ranges: readonly RecordRange[],
    take: TakeRecords,
    signal: AbortSignal,
  ): Promise<void> {
    for (const range of ranges) await this.#readRange(name, range, take, signal);
  }

  async #readRange(
    name: string,
    { partition, topicId, resets, from, until, leaderEpoch = Infinity }: RecordRange,
    take: TakeRecords,
    signal: AbortSignal,
  ): Promise<void> {
    const records = await this.#requests.send(() => {
      const topic = this.#kafka.has(name) ? this.#kafka.topic(name) : undefined;
      if (topic?.id !== topicId) return undefined;
      const log = topic?.partitions[partition] ?? [];
      const isOther = log.slice(0, from).some((record) => record.leaderEpoch > leaderEpoch);
      return isOther || log.length < until ? undefined : log.slice(from, until);
    });
    if (records === undefined) throw new Error('the log does not hold it any more');
    signal.throwIfAborted();
    const { received = (record: KafkaRecord) => record } = this.#client;
    await take(
      records.map(({ headers, leaderEpoch: given, ...record }) => {
        const epoch = logEpoch(given, resets);
        return received({ ...record, topic: name, topicId, partition, epoch, headers }, given);
      }),
    );
  }

  isRetriable(error: unknown): boolean {
    return error instanceof BrokersAway || error instanceof TopicMissing;
  }
}
