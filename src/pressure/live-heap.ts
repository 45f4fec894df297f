import {
  constants,
  PerformanceObserver,
  type PerformanceEntry,
  type NodeGCPerformanceDetail,
} from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { Session } from 'node:inspector/promises';

/** The young generation, which V8 collects often, and the read-only space: the limit is for the other spaces only. */
const YOUNG = new Set(['new_space', 'new_large_object_space', 'read_only_space']);

const LIMIT_OPTION = /(?:^|\s)--max[-_]old[-_]space[-_]size=(\d+)(?=\s|$)/g;

/**
 * The live bytes of the heap, as far as known: the bytes in use right after the last full garbage collection. Between
 * two collections garbage gathers, up to most of the limit even in a healthy process.
 */
export class LiveHeap {
  /** Bytes at which the process ends. */
  readonly limit = heapLimit();
  readonly #observer: PerformanceObserver;
  #live = usedNow();

  constructor() {
    this.#observer = new PerformanceObserver((list) => {
      const isFull = list.getEntries().some(isFullCollection);
      if (isFull) this.#measure();
    });
  }

  start(): void {
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  stop(): void {
    this.#observer.disconnect();
  }

  /** Bytes. */
  get live(): number {
    return this.#live;
  }

  /** Collects all garbage. `live` is exact at once, although the observer hears of a collection some turns later. */
  async collect(): Promise<void> {
    await collectGarbage();
    this.#measure();
  }

  #measure(): void {
    this.#live = usedNow();
  }
}

function isFullCollection(entry: PerformanceEntry): boolean {
  const { kind } = (entry as unknown as { detail: NodeGCPerformanceDetail }).detail;
  return kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

function usedNow(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => !YOUNG.has(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}

/** V8's own figure includes the young generation, which is a large part of a small limit. */
function heapLimit(): number {
  const options = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ');
  const given = [...options.matchAll(LIMIT_OPTION)].at(-1)?.[1];
  return given === undefined ? getHeapStatistics().heap_size_limit : Number(given) * 2 ** 20;
}

/**
 * Makes V8 collect all garbage and give memory back, which V8 may put off for as long as a process has little to do.
 * The event loop stands still meanwhile: the more objects are alive, the longer.
 */
async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
