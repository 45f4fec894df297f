import { deletionOf } from '../events/deletion.ts';
import { keyIn } from '../events/in-stream.ts';
import type { Publication } from '../events/publisher.ts';
import type { Stream, Topic } from '../graph/graph.ts';
import { placeIn, sourceOf, type KafkaRecord } from './record.ts';

/** Stands in a text for bytes that are no UTF-8. */
const REPLACEMENT = '\uFFFD';

/** A record without a value, Kafka's mark for a deleted key, of a topic with a stream that has history. */
export class Tombstone {
  readonly record: KafkaRecord;
  /** The streams that keep something. */
  readonly streams: readonly Stream[];
  readonly #key: string;

  private constructor(record: KafkaRecord, streams: readonly Stream[], key: string) {
    this.record = record;
    this.streams = streams;
    this.#key = key;
  }

  /**
   * @param key as text
   * @returns undefined if nothing is kept of the topic, or if the record has no key, or one that is no text, which messages
   *   can't distinguish from others
   */
  static of(record: KafkaRecord, { streams }: Topic, key: string | null): Tombstone | undefined {
    const kept = streams.filter(({ history }) => history !== undefined);
    if (kept.length === 0 || key === null || key.includes(REPLACEMENT)) return undefined;
    return new Tombstone(record, kept, key);
  }

  publication(stream: Stream): Publication {
    const key = keyIn({ ...placeIn(stream, this.record), key: this.#key });
    return deletionOf(key ?? '', sourceOf(this.record, stream));
  }
}
