import type { SlowPolicy } from '../../graph/graph.ts';
import type { SerializedResult } from '../../hub/result.ts';
import { heldBytes, type FrameFormat } from './frame-format.ts';

/** A subscription: some of its results may be left out while its socket is slow. */
export interface LateReceiver {
  /** The id as written in frames. */
  readonly id: string;
  readonly onSlow: SlowPolicy;
  /** The result in the form that the client gets. */
  withGap(result: SerializedResult, leftOut: number): SerializedResult;
}

interface Late {
  readonly result: SerializedResult;
  readonly bytes: number;
  /** Events that were left out for this one. */
  readonly leftOut: number;
}

/** Results of one subscription, oldest first. Results that belong to no event have no key, and are never left out. */
class LateResults {
  bytes = 0;
  readonly #receiver: LateReceiver;
  readonly #format: FrameFormat;
  readonly #waiting = new Map<unknown, Late>();
  /** The number of events. */
  #events = 0;

  constructor(receiver: LateReceiver, format: FrameFormat) {
    this.#receiver = receiver;
    this.#format = format;
  }

  /** @returns the one that it supersedes */
  add(result: SerializedResult): SerializedResult | undefined {
    const { id, onSlow } = this.#receiver;
    // The same result may come twice if it belongs to no event.
    const key = onSlow === 'CONFLATE' && result.key !== undefined ? result.key : Symbol();
    const superseded = this.#waiting.get(key);
    if (superseded !== undefined) this.#remove(key, superseded);
    const bytes = heldBytes(this.#format, result, id.length) + (result.key?.length ?? 0);
    const leftOut =
      result.leftOutFor(this.#receiver) + (superseded === undefined ? 0 : superseded.leftOut + 1);
    this.#put(key, { result: result.shared, bytes, leftOut });
    return superseded?.result;
  }

  /** Leaves out the oldest event in favour of the next one. @returns its result; undefined if there is only one event */
  dropOldest(): SerializedResult | undefined {
    if (this.#events < 2) return undefined;
    let dropped: Late | undefined;
    for (const [key, late] of this.#waiting) {
      if (late.result.key === undefined) continue;
      if (dropped === undefined) {
        dropped = late;
        this.#remove(key, late);
      } else {
        // `set` with a known key keeps the result's place.
        this.#waiting.set(key, { ...late, leftOut: late.leftOut + dropped.leftOut + 1 });
        break;
      }
    }
    return dropped?.result;
  }

  /** @returns undefined if there is none */
  take(): SerializedResult | undefined {
    for (const [key, late] of this.#waiting) {
      this.#remove(key, late);
      return this.#receiver.withGap(late.result, late.leftOut);
    }
    return undefined;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  #put(key: unknown, late: Late): void {
    this.#waiting.set(key, late);
    this.bytes += late.bytes;
    if (late.result.key !== undefined) this.#events += 1;
  }

  #remove(key: unknown, late: Late): void {
    this.#waiting.delete(key);
    this.bytes -= late.bytes;
    if (late.result.key !== undefined) this.#events -= 1;
  }
}

/**
 * Results that wait for a slow socket outside its queue, as some of them may be left out. They move into the queue when it
 * has been written; the subscriptions take turns.
 */
export class LateQueue {
  readonly #format: FrameFormat;
  #bytes = 0;
  readonly #byReceiver = new Map<LateReceiver, LateResults>();

  constructor(format: FrameFormat) {
    this.#format = format;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#byReceiver.size === 0;
  }

  /** @returns the one that it supersedes */
  add(receiver: LateReceiver, result: SerializedResult): SerializedResult | undefined {
    const results = this.#byReceiver.get(receiver) ?? new LateResults(receiver, this.#format);
    this.#byReceiver.set(receiver, results);
    return this.#counted(results, () => results.add(result));
  }

  /** @returns the result that was left out; undefined if there is only one */
  dropOldest(receiver: LateReceiver): SerializedResult | undefined {
    const results = this.#byReceiver.get(receiver);
    return results && this.#counted(results, () => results.dropOldest());
  }

  /** The oldest result of one subscription: of the one given, or of the next whose turn it is. */
  take(receiver?: LateReceiver): { readonly result: SerializedResult; readonly id: string } | undefined {
    const [next] = receiver === undefined ? this.#byReceiver.keys() : [receiver];
    const results = next && this.#byReceiver.get(next);
    if (next === undefined || results === undefined) return undefined;
    const result = this.#counted(results, () => results.take());
    this.#byReceiver.delete(next);
    if (!results.isEmpty) this.#byReceiver.set(next, results);
    return result && { result, id: next.id };
  }

  drop(receiver: LateReceiver): void {
    this.#bytes -= this.#byReceiver.get(receiver)?.bytes ?? 0;
    this.#byReceiver.delete(receiver);
  }

  #counted<T>(results: LateResults, change: () => T): T {
    const before = results.bytes;
    const value = change();
    this.#bytes += results.bytes - before;
    return value;
  }
}
