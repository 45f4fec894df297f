import type { Attributes } from '@opentelemetry/api';
import type { DecodeError } from '../events/decode-error.ts';
import type { OpenSpan } from '../tracing/span.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { givenTrace, type LoggedIds, type TraceFields } from '../tracing/traceparent.ts';
import type { KafkaRecord } from './record.ts';

/** How the work on an event ended here: a closed list. */
type Outcome = 'published' | 'unsubscribed' | 'passed_over';

/**
 * One sampled event, on its way through this process to the bus:
 *
 *     process bids     from its consumption until it is done with
 *       publish bids   from its encoding until the bus has acknowledged it; the pods that receive it go on from here
 */
export class EventSpan {
  readonly #topic: string;
  readonly #process: OpenSpan;
  #publish: OpenSpan | undefined;

  constructor(topic: string, process: OpenSpan) {
    this.#topic = topic;
    this.#process = process;
  }

  get loggedIds(): LoggedIds {
    return this.#process.loggedIds;
  }

  /** Called when the event is about to be encoded and published. */
  publishing(): TraceFields {
    this.#publish ??= this.#process.begin(`publish ${this.#topic}`, 'PRODUCER', {
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.destination.name': this.#topic,
    });
    return (this.#publish ?? this.#process).fields;
  }

  /** Either this or `fail` is to be called, once. */
  end(outcome: Outcome): void {
    this.#publish?.end();
    this.#process.note({ 'sluice.outcome': outcome });
    this.#process.end();
  }

  fail({ reason, message }: DecodeError): void {
    this.#publish?.end();
    this.#process.fail(reason, message);
    this.#process.end();
  }
}

/** The spans of events that are consumed, or taken by hand. */
export class EventSpans {
  readonly #tracing: Tracing;
  readonly #common: Attributes;

  /** @param source attributes that all have in common */
  constructor(tracing: Tracing, source: Attributes) {
    this.#tracing = tracing;
    this.#common = {
      ...source,
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
    };
  }

  /** @returns undefined if it is not sampled */
  begin({ topic, partition, offset, headers }: KafkaRecord): EventSpan | undefined {
    const attributes = {
      ...this.#common,
      'messaging.destination.name': topic,
      'messaging.destination.partition.id': String(partition),
      'messaging.kafka.offset': offset,
    };
    const process = this.#tracing.begin(
      `process ${topic}`,
      'CONSUMER',
      attributes,
      givenTrace(headers ?? {}),
    );
    return process && new EventSpan(topic, process);
  }
}
