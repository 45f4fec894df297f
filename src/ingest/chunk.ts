import type { Metrics } from '../metrics.ts';
import type { DeadLetter, DeadLetters } from './dead-letter.ts';
import type { Pipeline } from './pipeline.ts';
import { PublishError, type Publication, type Publisher } from './publisher.ts';
import type { KafkaRecord } from './record.ts';
import { Undecodable } from './undecodable.ts';

interface Parts {
  readonly pipeline: Pipeline;
  readonly deadLetters: DeadLetters;
  readonly metrics: Metrics;
}

/**
 * Consecutive messages of one partition, on their way to the bus together. Knows how much of it has arrived, so that
 * a second attempt goes on at the first event that has not.
 */
export class Chunk {
  readonly #publications: readonly Publication[];
  /** For each event with publications, the index after its last one. */
  readonly #ends: readonly number[];
  readonly #deadLetters: readonly DeadLetter[];
  /** The first publication that still has to go; always the first of an event. */
  #from = 0;
  #buried = false;

  private constructor(publications: Publication[], ends: number[], deadLetters: DeadLetter[]) {
    this.#publications = publications;
    this.#ends = ends;
    this.#deadLetters = deadLetters;
  }

  /** Decodes the messages and counts them. Waits only if a graph's own decode is asynchronous. */
  static async of(records: readonly KafkaRecord[], parts: Parts): Promise<Chunk> {
    const { pipeline, metrics } = parts;
    const publications: Publication[] = [];
    const ends: number[] = [];
    const deadLetters: DeadLetter[] = [];
    const outcomes = records.map((record) => pipeline.process(record));
    for (const [index, pending] of outcomes.entries()) {
      const outcome = pending instanceof Promise ? await pending : pending;
      const record = records[index];
      if (record === undefined) continue;
      if (outcome instanceof Undecodable) {
        const letter = { record, error: outcome };
        parts.deadLetters.note(letter);
        deadLetters.push(letter);
        continue;
      }
      if (outcome.length === 0) continue;
      for (const publication of outcome) publications.push(publication);
      ends.push(publications.length);
    }
    const topic = records[0]?.topic;
    if (topic !== undefined) metrics.events.inc({ topic }, records.length);
    return new Chunk(publications, ends, deadLetters);
  }

  /**
   * Resolves when everything is acknowledged: publications by the bus, dead letters by Kafka. May be called again
   * after a failure.
   *
   * @throws PublishError or whatever sending dead letters threw
   */
  async deliver(publisher: Publisher, deadLetters: DeadLetters): Promise<void> {
    if (this.#from < this.#publications.length) {
      const rest = this.#from === 0 ? this.#publications : this.#publications.slice(this.#from);
      try {
        await publisher.publish(rest);
      } catch (thrown) {
        if (thrown instanceof PublishError) this.#from = this.#eventAt(this.#from + thrown.acknowledged);
        throw thrown;
      }
      this.#from = this.#publications.length;
    }
    if (!this.#buried && this.#deadLetters.length > 0) await deadLetters.bury(this.#deadLetters);
    this.#buried = true;
  }

  /** Where the event begins that the publication at this index belongs to. */
  #eventAt(index: number): number {
    let start = 0;
    for (const end of this.#ends) {
      if (end > index) break;
      start = end;
    }
    return start;
  }
}
