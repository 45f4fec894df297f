import { totalmem } from 'node:os';

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
    const { rss, heapTotal, external } = process.memoryUsage();
    const held = Math.min(rss, heapTotal + external + this.#besides);
    return { memory: held / this.limit, resident: rss / this.limit };
  }
}

/** As the control group says, of version 1 or 2. Where it has none, Node.js says 0, undefined, or more than there is. */
function limitOfContainer(): number {
  const constrained = process.constrainedMemory() as number | undefined;
  return constrained === undefined || constrained === 0 ? totalmem() : Math.min(constrained, totalmem());
}
