import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { TracedSteps } from '../events/trace.ts';
import { LogThrottle } from '../support/log-throttle.ts';
import type { LoggedIds } from '../tracing/traceparent.ts';
import type { KafkaRecord, RawHeaders } from './record.ts';
import type { DecodeError } from '../events/decode-error.ts';

/** A record that could not be decoded, and why. */
export interface DeadLetter {
  readonly record: KafkaRecord;
  readonly error: DecodeError;
}

/** A message for the dead-letter topic: the record as it came, with headers that say where it came from. */
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
  readonly trace?: TracedSteps | undefined;
}

/** A topic full of records that can't be decoded must not fill the disk with log lines too. */
const LOG_BOUND = { lines: 20, periodMs: 10_000 };

/** Counts, logs and sends what could not be decoded. */
export class DeadLetters {
  readonly #options: Options;
  readonly #throttle: LogThrottle;

  constructor(options: Options) {
    this.#options = options;
    this.#throttle = new LogThrottle({ ...LOG_BOUND, now: options.now });
  }

  /**
   * Counts and logs a letter: once per record, however many attempts it takes to send it.
   *
   * @param span of the record, if it is sampled
   */
  note({ record, error }: DeadLetter, span?: LoggedIds): void {
    const { metrics, log, trace } = this.#options;
    const { topic, partition, offset } = record;
    trace?.listener?.({ step: 'undecodable', record, error });
    metrics.deadLetters.inc({ topic, reason: error.reason });
    const count = this.#throttle.admit();
    if (count === undefined) return;
    if (count > 0) log.warn({ count }, 'could not decode more messages, not logged each');
    const { reason, message: detail } = error;
    log.warn({ topic, partition, offset, reason, detail, ...span }, 'could not decode a message');
  }

  /** Resolves when the dead-letter topic, if there is one, has acknowledged all of them. */
  async send(letters: readonly DeadLetter[]): Promise<void> {
    const { sink } = this.#options;
    if (sink !== undefined && letters.length > 0) await sink.send(letters.map(toMessage));
  }
}

function toMessage({ record, error }: DeadLetter): DeadLetterMessage {
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
