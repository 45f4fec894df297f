import type { Metrics } from '../metrics.ts';
import type { RoutedEvent, EncodeResult } from './routed-event.ts';
import type { DeadLetter, DeadLetters } from './dead-letter.ts';
import type { Pipeline } from './pipeline.ts';
import { PublishError, type Publication, type Publisher } from '../events/publisher.ts';
import type { KafkaRecord } from './record.ts';
import { DecodeError } from '../events/decode-error.ts';

interface Parts {
  readonly pipeline: Pipeline;
  readonly deadLetters: DeadLetters;
  readonly metrics: Metrics;
}

/** A message that may have to be published. */
interface Entry {
  readonly record: KafkaRecord;
  readonly candidate: RoutedEvent;
  /** It has been opened, in this attempt or one before. */
  isOpen: boolean;
  opened: EncodeResult;
}

/** What one attempt is to publish. */
interface PublishAttempt {
  readonly publications: Publication[];
  /** For each entry of the attempt, the index after its last publication. */
  readonly ends: number[];
  /** For each entry of the attempt, whether anybody is subscribed. */
  readonly wanted: boolean[];
}

/**
 * Consecutive messages of one partition, on their way to the bus together. Each attempt asks the bus first what is
 * wanted, and nothing else is opened or published. Knows how much has arrived, so that the next attempt goes on at the
 * first event that has not.
 */
export class Chunk {
  readonly #parts: Parts;
  readonly #entries: readonly Entry[];
  /** Those that are not acknowledged yet. */
  #deadLetters: DeadLetter[];
  /** The first entry that still has to go. */
  #from = 0;

  private constructor(entries: Entry[], deadLetters: DeadLetter[], parts: Parts) {
    this.#entries = entries;
    this.#deadLetters = deadLetters;
    this.#parts = parts;
  }

  /** Decodes the messages as far as routing needs it, and counts them. Waits only if a graph's own decode does. */
  static async of(records: readonly KafkaRecord[], parts: Parts): Promise<Chunk> {
    const entries: Entry[] = [];
    const deadLetters: DeadLetter[] = [];
    const outcomes = records.map((record) => parts.pipeline.process(record));
    for (const [index, pending] of outcomes.entries()) {
      const outcome = pending instanceof Promise ? await pending : pending;
      const record = records[index];
      if (record === undefined || outcome === undefined) continue;
      if (outcome instanceof DecodeError) {
        const letter = { record, error: outcome };
        parts.deadLetters.note(letter);
        deadLetters.push(letter);
      } else {
        entries.push({ record, candidate: outcome, isOpen: false, opened: undefined });
      }
    }
    const topic = records[0]?.topic;
    if (topic !== undefined) parts.metrics.events.inc({ topic }, records.length);
    return new Chunk(entries, deadLetters, parts);
  }

  /**
   * Resolves when everything is acknowledged: publications by the bus, dead letters by Kafka. May be called again
   * after a failure.
   *
   * @throws PublishError or whatever asking the bus, or sending dead letters, threw
   */
  async deliver(publisher: Publisher): Promise<void> {
    if (this.#from < this.#entries.length) await this.#publish(publisher);
    // In the order of the messages, though some are found out later than others.
    const letters = this.#deadLetters.toSorted((one, other) => one.record.offset - other.record.offset);
    if (letters.length > 0) await this.#parts.deadLetters.send(letters);
    this.#deadLetters = [];
  }

  async #publish(publisher: Publisher): Promise<void> {
    const entries = this.#from === 0 ? this.#entries : this.#entries.slice(this.#from);
    const asked = new Set<string>();
    for (const { candidate } of entries) for (const channel of candidate.channels) asked.add(channel);
    const subscribed = await publisher.subscribed([...asked]);
    const batch = await this.#batch(entries, (channel) => subscribed.has(channel) || !asked.has(channel));
    const { publications } = batch;
    try {
      if (publications.length > 0) await publisher.publish(publications);
    } catch (thrown) {
      if (thrown instanceof PublishError) this.#arrived(batch, thrown.acknowledged);
      throw thrown;
    }
    this.#arrived(batch, publications.length);
  }

  /** @param isWanted also of channels that only the event itself has told of, and nobody has asked about */
  async #batch(entries: readonly Entry[], isWanted: (channel: string) => boolean): Promise<PublishAttempt> {
    const batch: PublishAttempt = { publications: [], ends: [], wanted: [] };
    for (const entry of entries) {
      const wanted = entry.candidate.channels.some(isWanted);
      if (wanted) {
        const opening = entry.isOpen ? entry.opened : entry.candidate.encode();
        const opened = opening instanceof Promise ? await opening : opening;
        if (!entry.isOpen) this.#note(entry, opened);
        if (opened !== undefined && !(opened instanceof DecodeError)) {
          const { channels, payload } = opened;
          for (const channel of channels)
            if (isWanted(channel)) batch.publications.push({ channel, payload });
        }
      }
      batch.wanted.push(wanted);
      batch.ends.push(batch.publications.length);
    }
    return batch;
  }

  #note(entry: Entry, opened: EncodeResult): void {
    entry.isOpen = true;
    entry.opened = opened;
    if (!(opened instanceof DecodeError)) return;
    const letter = { record: entry.record, error: opened };
    this.#parts.deadLetters.note(letter);
    this.#deadLetters.push(letter);
  }

  /** Goes on to the first entry that has not arrived in full, and counts those that nobody wanted. */
  #arrived({ ends, wanted }: PublishAttempt, acknowledged: number): void {
    let count = 0;
    let unwanted = 0;
    while (count < ends.length && (ends[count] ?? 0) <= acknowledged) {
      if (wanted[count] === false) unwanted += 1;
      count += 1;
    }
    const topic = this.#entries[0]?.record.topic;
    if (topic !== undefined && unwanted > 0) this.#parts.metrics.unsubscribedEvents.inc({ topic }, unwanted);
    this.#from += count;
  }
}
