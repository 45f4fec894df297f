import { deletionOf } from '../events/deletion.ts';
import type { Publication } from '../events/publisher.ts';
import type { KafkaRecord } from './record.ts';

/** Stands in a text for bytes that are no UTF-8. */
const REPLACEMENT = '\uFFFD';

/** A record without a value, Kafka's mark for a deleted key, of a topic with history. */
export class Tombstone {
  readonly record: KafkaRecord;
  readonly publication: Publication;

  private constructor(record: KafkaRecord, key: string) {
    const { topicId, partition, offset, epoch } = record;
    this.record = record;
    this.publication = deletionOf(key, { topicId, partition, offset, epoch });
  }

  /**
   * @param key as text
   * @returns undefined if the record has no key, or one that is no text, which messages can't distinguish from others
   */
  static of(record: KafkaRecord, key: string | null): Tombstone | undefined {
    return key === null || key.includes(REPLACEMENT) ? undefined : new Tombstone(record, key);
  }
}
