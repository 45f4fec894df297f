import type { Log } from '../log.ts';
import type { KafkaRecord } from './record.ts';

/** A member that blocks the event loop longer than its session loses its partitions, and fetches the same record again. */
const BOUND_MS = 2_000;

/** One slow try may be a pause of the whole process. */
const MAX_TRIES = 2;

const MAX_RECORDS = 1_000;

interface Options {
  readonly log: Log;
  /** ms */
  readonly now: () => number;
}

/**
 * Remembers which records have held the event loop for too long, so that one of them can't make its consumer lose the
 * partition again and again. It outlives consumers, but not the process: each pod finds out for itself.
 */
export class SlowRecords {
  readonly #options: Options;
  /** Slow tries of each record, and when it was consumed for the last of them; the oldest is forgotten first. */
  readonly #slow = new Map<string, { readonly tries: number; readonly consumedAt: number }>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether the record must not be tried again. */
  isGivenUp(record: KafkaRecord): boolean {
    return this.#slow.size > 0 && (this.#slow.get(keyOf(record))?.tries ?? 0) >= MAX_TRIES;
  }

  /**
   * Counts a try that was too slow, once each time that the record is consumed.
   *
   * @param startedAt ms
   * @param consumedAt ms
   */
  note(record: KafkaRecord, startedAt: number, consumedAt: number): void {
    const took = this.#options.now() - startedAt;
    if (took < BOUND_MS) return;
    const key = keyOf(record);
    const before = this.#slow.get(key);
    const tries = (before?.tries ?? 0) + (before?.consumedAt === consumedAt ? 0 : 1);
    this.#slow.delete(key);
    this.#slow.set(key, { tries, consumedAt });
    if (this.#slow.size > MAX_RECORDS) this.#slow.delete(this.#slow.keys().next().value ?? '');
    const { topic, partition, offset } = record;
    this.#options.log.warn({ topic, partition, offset, ms: took, tries }, 'a message took long to decode');
  }
}

function keyOf({ topic, topicId, partition, epoch, offset }: KafkaRecord): string {
  return `${topic}/${topicId}/${partition}/${epoch}/${offset}`;
}
