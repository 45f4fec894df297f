import type { KafkaRecord } from '../record.ts';

/** How far consumption has come in each partition, by the Kafka timestamps of records. */
export class PartitionTimes {
  /** ms since 1970, by partition within a topic. */
  readonly #times = new Map<string, Map<number, number>>();

  /** Notes the record that is being consumed, or the last one that was. A record may have no timestamp. */
  note(record: KafkaRecord | undefined): void {
    if (record === undefined || record.timestamp < 0) return;
    const times = this.#times.get(record.topic) ?? new Map<number, number>();
    this.#times.set(record.topic, times.set(record.partition, record.timestamp));
  }

  /** @returns ms since 1970; undefined if no record with a timestamp has been noted */
  of(topic: string, partition: number): number | undefined {
    return this.#times.get(topic)?.get(partition);
  }

  clear(): void {
    this.#times.clear();
  }
}
