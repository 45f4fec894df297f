import type { RequestParams } from '#graphql-http';
import type { Metrics } from '../../metrics.ts';
import type { WorkOwner } from '../../support/fair-limiter.ts';
import type { ByteSource, Reservation } from '../../support/byte-budget.ts';
import { LEFT, podFull, TOO_SLOW, type Refusal } from './refusals.ts';

/** Reads the body of a request. It rejects with the signal's reason if that aborts first. */
export type ReadBody = (signal: AbortSignal) => Promise<Buffer>;

interface RequestBytesOptions {
  readonly source: Pick<ByteSource, 'reserve' | 'mostOfOwner' | 'waiting'>;
  /** Longest body. */
  readonly maxPayloadBytes: number;
  readonly metrics: Pick<Metrics, 'refused'>;
}

/** Most bytes of memory that values take for each byte of their JSON: measured, 13 for `[],` and 21 for `{},`. */
const MEMORY_OF_JSON = 20;

/** How long a body may take while other requests wait for room, ms. */
const SLOW_MS = 5_000;

const NO_ROOM = podFull('expected room for the values of the request in this process, got less');

/** The bytes that requests take of the process's budget, from before their bodies are read until they have been executed. */
export class RequestBytes {
  readonly #options: RequestBytesOptions;

  constructor(options: RequestBytesOptions) {
    this.#options = options;
  }

  /**
   * Reserves bytes for a body, once there is room.
   *
   * @param length as declared; NaN if it was not
   * @returns LEFT if the signal aborts first
   */
  async reserve(length: number, owner: WorkOwner, signal: AbortSignal): Promise<Reservation | Refusal> {
    const { source, maxPayloadBytes } = this.#options;
    const most = Math.min(maxPayloadBytes, source.mostOfOwner);
    try {
      return await source.reserve(length < most ? length : most, owner, signal);
    } catch (error) {
      if (signal.aborted) return LEFT;
      throw error;
    }
  }

  /** Reads a body that has room. A client that sends slowly must not keep others out. */
  async read(readBody: ReadBody): Promise<Buffer | Refusal> {
    const slow = new AbortController();
    const timer = setInterval(() => {
      if (this.#options.source.waiting > 0) slow.abort();
    }, SLOW_MS).unref();
    try {
      return await readBody(slow.signal);
    } catch (error) {
      if (slow.signal.aborted) return this.#refused(TOO_SLOW);
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  /**
   * Reserves the memory of a request while it is executed: its values take more than its text. Documents are shared.
   *
   * @param length of the text that the parameters were parsed from
   */
  keep(reservation: Reservation, length: number, { query }: RequestParams): Refusal | undefined {
    const bytes = length + MEMORY_OF_JSON * Math.max(0, length - query.length);
    const isKept = reservation.resize(Math.min(bytes, this.#options.source.mostOfOwner));
    return isKept ? undefined : this.#refused(NO_ROOM);
  }

  #refused(refusal: Refusal): Refusal {
    this.#options.metrics.refused('request_bytes');
    return refusal;
  }
}
