import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { KafkaRecord, RawHeaders } from './record.ts';
import type { Undecodable } from '../events/decode-error.ts';

/** A message that could not be decoded, and why. */
export interface DeadLetter {
  readonly record: KafkaRecord;
  readonly error: Undecodable;
}

/** What is written to the dead-letter topic: the message as it came, and where it came from in headers. */
export interface DeadLetterMessage {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: RawHeaders;
}

/** Where dead letters go. */
export interface DeadLetterSink {
  /** Resolves when all are acknowledged. */
  send(messages: readonly DeadLetterMessage[]): Promise<void>;
}

interface Options {
  /** Undefined: dead letters are logged and counted only. */
  readonly sink: DeadLetterSink | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
  /** ms */
  readonly now: () => number;
}

/** At most this many lines in each period; a topic full of poison must not fill the disk too. */
const LOG_LINES = 20;
const LOG_PERIOD_MS = 10_000;

/**
 * Counts, logs and keeps what could not be decoded. Tombstones are how a compacted topic deletes a key, nothing that
 * anybody has to look at: they are counted, logged at debug only, and not sent.
 */
export class DeadLetters {
  readonly #options: Options;
  #periodEnd = 0;
  #lines = 0;
  #unlogged = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Counts and logs; once per message, however often it takes to send it. */
  note({ record, error }: DeadLetter): void {
    const { metrics, log } = this.#options;
    const { topic, partition, offset } = record;
    metrics.deadLetters.inc({ topic, reason: error.reason });
    const fields = { topic, partition, offset, reason: error.reason };
    if (error.reason === 'tombstone') log.debug(fields, 'passed over a tombstone');
    else if (this.#mayLog()) log.warn({ ...fields, detail: error.message }, 'could not decode a message');
  }

  /** Resolves when the dead-letter topic, if there is one, has acknowledged all of them. */
  async bury(letters: readonly DeadLetter[]): Promise<void> {
    const { sink } = this.#options;
    if (sink === undefined) return;
    const messages = letters.filter(({ error }) => error.reason !== 'tombstone').map(messageOf);
    if (messages.length > 0) await sink.send(messages);
  }

  #mayLog(): boolean {
    const now = this.#options.now();
    if (now >= this.#periodEnd) {
      if (this.#unlogged > 0) {
        this.#options.log.warn({ count: this.#unlogged }, 'could not decode more messages, not logged each');
      }
      this.#periodEnd = now + LOG_PERIOD_MS;
      this.#lines = 0;
      this.#unlogged = 0;
    }
    this.#lines += 1;
    if (this.#lines <= LOG_LINES) return true;
    this.#unlogged += 1;
    return false;
  }
}

function messageOf({ record, error }: DeadLetter): DeadLetterMessage {
  return {
    key: record.key,
    value: record.value,
    headers: {
      ...record.headers,
      'sluice-topic': record.topic,
      'sluice-partition': String(record.partition),
      'sluice-offset': String(record.offset),
      'sluice-timestamp': String(record.timestamp),
      'sluice-reason': error.reason,
    },
  };
}
