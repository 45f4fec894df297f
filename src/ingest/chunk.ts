import { setImmediate as nextTurn } from 'node:timers/promises';
import { DecodeError } from '../events/decode-error.ts';
import { PublishError, type Publication, type Publisher } from '../events/publisher.ts';
import type { TracedSteps } from '../events/trace.ts';
import type { Metrics } from '../metrics.ts';
import { Interest } from './interest.ts';
import type { DeadLetter, DeadLetters } from './dead-letter.ts';
import type { EventSpan, EventSpans } from './event-spans.ts';
import type { Pipeline } from './pipeline.ts';
import type { Stream } from '../graph/graph.ts';
import { sourceOf, type KafkaRecord } from './record.ts';
import { tooLarge, tooWide } from './record-bytes.ts';
import { payloadIn, RoutedEvent, type RouteResult } from './routed-event.ts';
import { Tombstone } from './tombstone.ts';

interface Parts {
  readonly pipeline: Pipeline;
  readonly deadLetters: DeadLetters;
  /** A larger record is not decoded. */
  readonly maxRecordBytes: number;
  /** Bytes times channels of one event. */
  readonly maxFanoutBytes: number;
  readonly metrics: Metrics;
  readonly trace?: TracedSteps | undefined;
  /** Undefined: no spans are recorded. */
  readonly spans?: EventSpans | undefined;
}

/** The open spans of sampled events; undefined if there were none. */
type OpenSpans = Map<KafkaRecord, EventSpan> | undefined;

/**
 * Bytes of a chunk's events, times their channels: Redis, and a pod that listens to all channels, can take these in a
 * fraction of a second. An event with more is a chunk by itself.
 */
const FANOUT_BYTES = 4 * 1024 * 1024;

/** Bytes of records that are worked on in a turn of the event loop: a chunk may have 4 MB. */
const TURN_BYTES = 64 * 1024;

/**
 * Consecutive records of one partition, on their way to the bus together. The bus is asked first which channels have
 * subscribers; events of other channels are neither encoded nor published. A failed attempt may be repeated: it
 * publishes what the bus has not acknowledged, and nothing else.
 */
export class Chunk {
  readonly #parts: Parts;
  /** Its last record. */
  readonly last: KafkaRecord | undefined;
  readonly #events: readonly (RoutedEvent | Tombstone)[];
  /** Dead letters that Kafka has not acknowledged yet. */
  #deadLetters: DeadLetter[];
  readonly #spans: OpenSpans;
  /**
   * Publications that the bus has not acknowledged yet, by stream, in order. Undefined until it has been asked who is
   * subscribed.
   */
  #publications: Map<string, readonly Publication[]> | undefined;
  /** Records that are published once they are acknowledged. */
  readonly #published: KafkaRecord[] = [];
  #attempt: Promise<void> = Promise.resolve();

  private constructor(
    last: KafkaRecord | undefined,
    events: (RoutedEvent | Tombstone)[],
    deadLetters: DeadLetter[],
    spans: OpenSpans,
    parts: Parts,
  ) {
    this.last = last;
    this.#spans = spans;
    this.#events = events;
    this.#deadLetters = deadLetters;
    this.#parts = parts;
  }

  /**
   * Routes and counts the first of these records: as many as are delivered together, at least one. Waits only if a graph's
   * own decode does, records are large, or schemas are not known yet.
   *
   * @throws SchemaUnavailable: then nothing has been decided about any of the records
   */
  static async of(records: readonly KafkaRecord[], parts: Parts): Promise<Chunk> {
    const events: (RoutedEvent | Tombstone)[] = [];
    const deadLetters: DeadLetter[] = [];
    let spans: OpenSpans;
    const routed: { record: KafkaRecord; pending: RouteResult | Promise<RouteResult> }[] = [];
    let fanoutBytes = 0;
    const turn = new Turn();
    // Nothing is counted before all schemas are here, as the records are handed over again otherwise.
    const schemas = parts.pipeline.schemas(records);
    if (schemas !== undefined) await schemas;
    for (const record of records) {
      if (turn.isOver(record)) await nextTurn();
      const span = parts.spans?.begin(record);
      if (span !== undefined) (spans ??= new Map()).set(record, span);
      const pending = tooLarge(record, parts.maxRecordBytes) ?? parts.pipeline.route(record);
      routed.push({ record, pending });
      // Another record may reject first.
      if (pending instanceof Promise) pending.catch(() => undefined);
      // The channels are not known yet while a graph's own decode runs.
      if (pending instanceof RoutedEvent)
        fanoutBytes += (record.value?.length ?? 0) * pending.channels.length;
      if (fanoutBytes >= FANOUT_BYTES) break;
    }
    const results: RouteResult[] = [];
    for (const { pending } of routed) results.push(pending instanceof Promise ? await pending : pending);
    for (const [index, { record }] of routed.entries()) {
      const result = results[index];
      if (result === undefined || result instanceof Tombstone) {
        end(spans, record, 'passed_over');
        if (result !== undefined) events.push(result);
      } else if (result instanceof DecodeError) {
        const letter = { record, error: result };
        parts.deadLetters.note(letter, spans?.get(record)?.loggedIds);
        fail(spans, letter);
        deadLetters.push(letter);
      } else {
        events.push(result);
      }
    }
    const last = routed.at(-1)?.record;
    if (last !== undefined) parts.metrics.events.inc({ topic: last.topic }, routed.length);
    return new Chunk(last, events, deadLetters, spans, parts);
  }

  /**
   * Resolves when everything is acknowledged: publications by the bus, dead letters by Kafka. May be called again
   * after a failure.
   *
   * @throws PublishError, SchemaUnavailable, or the errors of `publisher.subscribed` and of sending dead letters
   */
  deliver(publisher: Publisher): Promise<void> {
    this.#attempt = this.#deliver(publisher);
    return this.#attempt;
  }

  /** The promise that the last `deliver` has returned. */
  get attempt(): Promise<void> {
    return this.#attempt;
  }

  async #deliver(publisher: Publisher): Promise<void> {
    await this.#publish(publisher);
    // In the order of the records, though some faults are found later than others.
    const letters = this.#deadLetters.toSorted((one, other) => one.record.offset - other.record.offset);
    if (letters.length > 0) await this.#parts.deadLetters.send(letters);
    this.#deadLetters = [];
  }

  /** Asks the bus who is subscribed. @throws the errors of `publisher.subscribed` */
  async ask(publisher: Publisher): Promise<Interest> {
    const interest = new Interest();
    for (const event of this.#events) if (event instanceof RoutedEvent) interest.add(event);
    await interest.ask(publisher);
    return interest;
  }

  /** Whether the bus has acknowledged everything. */
  get isPublished(): boolean {
    return this.#events.length === 0 || this.#publications?.size === 0;
  }

  async #publish(publisher: Publisher): Promise<void> {
    if (this.#events.length === 0) return;
    this.#publications ??= await this.#prepare(publisher);
    if (this.#publications.size === 0) return;
    const acknowledged = this.#parts.metrics.publishDuration.startTimer();
    for (const [stream, publications] of this.#publications) {
      try {
        await publisher.publish(stream, publications);
      } catch (thrown) {
        if (thrown instanceof PublishError) this.#publications.set(stream, thrown.failed);
        throw thrown;
      }
      this.#publications.delete(stream);
    }
    acknowledged();
    const { trace } = this.#parts;
    for (const record of this.#published) trace?.listener?.({ step: 'published', record });
    if (this.#spans === undefined) return;
    for (const span of this.#spans.values()) span.end('published');
    this.#spans.clear();
  }

  /** @throws the errors of `publisher.subscribed`: then nothing has been encoded or counted */
  async #prepare(publisher: Publisher): Promise<Map<string, readonly Publication[]>> {
    const interest = await this.ask(publisher);
    const publications = new Map<string, Publication[]>();
    const publicationsTo = ({ name }: Stream): Publication[] => {
      let of = publications.get(name);
      if (of === undefined) publications.set(name, (of = []));
      return of;
    };
    let unsubscribed = 0;
    const turn = new Turn();
    for (const event of this.#events) {
      if (turn.isOver(event.record)) await nextTurn();
      if (event instanceof Tombstone) {
        for (const stream of event.streams) publicationsTo(stream).push(event.publication(stream));
        continue;
      }
      const { record, streams } = event;
      if (!interest.isIn(event.channels, streams)) {
        if (!event.lacksKey) unsubscribed += 1;
        this.#parts.trace?.listener?.({ step: 'unsubscribed', record });
        end(this.#spans, record, 'unsubscribed');
        continue;
      }
      const pending = event.encode(this.#spans?.get(record)?.publishing());
      const result = pending instanceof Promise ? await pending : pending;
      if (result instanceof DecodeError) {
        this.#noteDeadLetter({ record, error: result });
      } else if (result === undefined) {
        end(this.#spans, record, 'passed_over');
      } else {
        const wanted = streams.map((_, index) => interest.of(result.channels, streams, index));
        const count = wanted.reduce((sum, { length }) => sum + length, 0);
        const error = tooWide(result, count, this.#parts.maxFanoutBytes);
        if (error !== undefined) {
          this.#noteDeadLetter({ record, error });
          continue;
        }
        if (count > 0) this.#published.push(record);
        for (const [index, channels] of wanted.entries()) {
          const stream = streams[index];
          if (stream === undefined || channels.length === 0) continue;
          const payload = payloadIn(result.payload, stream, record);
          const source = sourceOf(record, stream);
          const ofStream = publicationsTo(stream);
          for (const channel of channels) ofStream.push({ channel, payload, source });
        }
      }
    }
    const topic = this.last?.topic ?? '';
    if (unsubscribed > 0) this.#parts.metrics.unsubscribedEvents.inc({ topic }, unsubscribed);
    return publications;
  }

  #noteDeadLetter(letter: DeadLetter): void {
    this.#parts.deadLetters.note(letter, this.#spans?.get(letter.record)?.loggedIds);
    fail(this.#spans, letter);
    this.#deadLetters.push(letter);
  }
}

/** Counts the bytes that a turn of the event loop may still take. Most chunks take one turn. */
class Turn {
  #bytes = TURN_BYTES;

  /** Whether this record must wait for the next turn. */
  isOver({ value }: KafkaRecord): boolean {
    const isOver = this.#bytes <= 0;
    this.#bytes = (isOver ? TURN_BYTES : this.#bytes) - (value?.length ?? 0);
    return isOver;
  }
}

function end(spans: OpenSpans, record: KafkaRecord, outcome: 'unsubscribed' | 'passed_over'): void {
  spans?.get(record)?.end(outcome);
  spans?.delete(record);
}

function fail(spans: OpenSpans, { record, error }: DeadLetter): void {
  spans?.get(record)?.fail(error);
  spans?.delete(record);
}
