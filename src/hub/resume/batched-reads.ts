import { setImmediate } from 'node:timers/promises';
import type { Bus } from '../../bus/bus.ts';
import { bytesOf, type HistoryBounds, type HistoryRead } from '../../bus/history.ts';

interface Read {
  readonly channels: readonly string[];
  readonly since: number;
  readonly maxBytes: number;
}

interface Batch {
  readonly reads: Read[];
  readonly all: Promise<HistoryRead>;
}

/** Reads that begin within so many sequences of each other are merged. */
const NEAR = 1_024;

/**
 * Merges the reads of one topic that one turn of the event loop asks for: when a pod ends, thousands of clients resume on
 * the next one, and most lack little. A merged read may take the bytes that all its reads have reserved. If these are not
 * enough, each read is made by itself, so that one that lacks much takes nothing from the others.
 */
export class BatchedReads {
  readonly #readHistory: Bus['readHistory'];
  readonly #batches = new Map<string, Batch>();

  constructor(readHistory: Bus['readHistory']) {
    this.#readHistory = readHistory;
  }

  /** @throws NoHistory */
  async read(
    topic: string,
    channels: readonly string[],
    since: number,
    bounds: HistoryBounds,
  ): Promise<HistoryRead> {
    const key = [topic, bounds.last, Math.floor(since / NEAR)].join(' ');
    const batch = this.#batches.get(key) ?? this.#begin(key, topic, bounds);
    batch.reads.push({ channels, since, maxBytes: bounds.maxBytes });
    const all = await batch.all;
    if (batch.reads.length === 1) return all;
    if (all.isCut) return this.#readHistory(topic, channels, since, bounds);
    const wanted = new Set(channels);
    const own = all.channels.filter(({ channel }) => wanted.has(channel));
    const bytes = own.flatMap(({ messages }) => messages).reduce((sum, one) => sum + bytesOf(one), 0);
    return { ...all, isCut: bytes > bounds.maxBytes, channels: own };
  }

  #begin(key: string, topic: string, bounds: HistoryBounds): Batch {
    const reads: Read[] = [];
    const batch = { reads, all: this.#ask(key, topic, reads, bounds) };
    this.#batches.set(key, batch);
    return batch;
  }

  async #ask(
    key: string,
    topic: string,
    reads: readonly Read[],
    bounds: HistoryBounds,
  ): Promise<HistoryRead> {
    await setImmediate();
    this.#batches.delete(key);
    const channels = reads.flatMap((read) => read.channels);
    const since = reads.reduce((least, read) => Math.min(least, read.since), Infinity);
    const maxBytes = reads.reduce((sum, read) => sum + read.maxBytes, 0);
    return this.#readHistory(topic, channels, since, { ...bounds, maxBytes });
  }
}
