import { randomUUID } from 'node:crypto';
import kafkajs from 'kafkajs';
import type { Scope } from '../../test/helpers/scope.ts';
import { createTopics } from '../../test/helpers/topic.ts';

/** The number of events in one request, all of one partition. */
const BATCH = 2_000;

const VALUE = Buffer.alloc(200, 'x');

/** A topic of one measurement, with its producer. Both end with their scope. */
export class DriverTopic {
  readonly name = `loadtest-${randomUUID().slice(0, 8)}`;
  readonly #partitions: number;
  readonly #admin: kafkajs.Admin;
  readonly #producer: kafkajs.Producer;

  private constructor(brokers: string, partitions: number) {
    const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
    this.#partitions = partitions;
    this.#admin = kafka.admin();
    this.#producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  }

  static async make(scope: Scope, brokers: string, partitions: number): Promise<DriverTopic> {
    const topic = new DriverTopic(brokers, partitions);
    await topic.#admin.connect();
    scope.after(() => topic.#admin.disconnect());
    await topic.#producer.connect();
    scope.after(() => topic.#producer.disconnect());
    await createTopics(topic.#admin, [{ topic: topic.name, numPartitions: partitions }]);
    scope.after(() => topic.#admin.deleteTopics({ topics: [topic.name] }).catch(() => undefined));
    return topic;
  }

  /** Makes the group begin with the first event of each partition. */
  async consumedFromStart(groupId: string): Promise<void> {
    const partitions = Array.from({ length: this.#partitions }, (_, partition) => ({
      partition,
      offset: '0',
    }));
    await this.#admin.setOffsets({ groupId, topic: this.name, partitions });
  }

  /** Sends events of 200 bytes with a key and a header, one batch to each partition in turn. */
  async fill(events: number): Promise<void> {
    for (let from = 0; from < events; from += BATCH) {
      const partition = (from / BATCH) % this.#partitions;
      await this.#send(Array.from({ length: Math.min(BATCH, events - from) }, () => partition));
    }
  }

  /** Sends one event of the same kind to each of the partitions. */
  async send(partitions: readonly number[]): Promise<void> {
    await this.#send(partitions);
  }

  async #send(partitions: readonly number[]): Promise<void> {
    const messages = partitions.map((partition, index) => ({
      partition,
      key: String(index),
      value: VALUE,
      headers: { source: 'loadtest' },
    }));
    await this.#producer.send({ topic: this.name, messages });
  }
}
