import { totalmem } from 'node:os';

/** Bytes that clients and events take at the least. */
export const LEAST_ROOM = 32 * 2 ** 20;

/**
 * What a process holds of the memory that it may use.
 *
 * Resident memory would say too much for too long, as the C library keeps a part of what is freed. So there are two
 * figures: what V8 has taken, with the buffers outside of its heap and what the process held besides when it started; and
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
   * Whether what the process holds, with little room, is too much for the limit.
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

/** The limit that the control group has, of version 1 or 2. Where it has none, Node.js says 0, undefined, or more than there is. */
function limitOfContainer(): number {
  const constrained = process.constrainedMemory() as number | undefined;
  return constrained === undefined || constrained === 0 ? totalmem() : Math.min(constrained, totalmem());
}
