import { totalmem } from 'node:os';

/** Minimum bytes for clients and events. */
export const LEAST_ROOM = 32 * 2 ** 20;

/**
 * The memory that a process holds, as a share of its limit.
 *
 * Resident memory stays too high for too long, as the C library keeps a part of freed memory. So there are two figures:
 * the memory of V8, with the buffers outside of its heap and the memory that the process held besides at its start; and
 * resident memory, to be shown.
 */
export class Memory {
  /** Bytes that this process may use. */
  readonly limit: number;
  /** Code, stacks and the like. */
  readonly #besides: number;

  /**
   * @param limitMb MEMORY_LIMIT_MB
   * @param processes that share the limit
   */
  constructor(limitMb: number, processes: number) {
    this.limit = (limitMb > 0 ? limitMb * 2 ** 20 : limitOfContainer()) / processes;
    const { rss, heapTotal, external } = process.memoryUsage();
    this.#besides = Math.max(0, rss - heapTotal - external);
  }

  /** Shares of the limit. */
  sample(): { memory: number; resident: number } {
    const { held, rss } = this.#usage();
    return { memory: held / this.limit, resident: rss / this.limit };
  }

  /**
   * Tells whether the limit is too low for the bytes that the process holds and LEAST_ROOM.
   *
   * @param share of the limit from which on there is pressure
   * @returns bytes; undefined if there is room
   */
  shortage(share: number): { held: number; least: number } | undefined {
    const { held } = this.#usage();
    const least = (held + LEAST_ROOM) / share;
    return least > this.limit ? { held, least } : undefined;
  }

  #usage(): { held: number; rss: number } {
    const { rss, heapTotal, external } = process.memoryUsage();
    return { held: Math.min(rss, heapTotal + external + this.#besides), rss };
  }
}

/** The limit of the control group, version 1 or 2. Without one, Node.js returns 0, undefined, or more than exists. */
function limitOfContainer(): number {
  const constrained = process.constrainedMemory() as number | undefined;
  return constrained === undefined || constrained === 0 ? totalmem() : Math.min(constrained, totalmem());
}
