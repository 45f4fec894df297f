import {
  constants,
  PerformanceObserver,
  type PerformanceEntry,
  type NodeGCPerformanceDetail,
} from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { collectGarbage } from './collect-garbage.ts';

/** The young generation: V8 collects it often, and the limit is for the other spaces only. */
const YOUNG = new Set(['new_space', 'new_large_object_space', 'read_only_space']);

const LIMIT_OPTION = /(?:^|\s)--max[-_]old[-_]space[-_]size=(\d+)(?=\s|$)/g;

/**
 * What is alive in the heap, as far as it is known: what was used right after the last full garbage collection. Between
 * two of them garbage gathers, which in a healthy process may come to most of the limit.
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

  /** Has all garbage collected. `live` is exact afterwards: the observer hears of a collection some turns later. */
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

/** V8's own figure has the young generation in it, which is much where the limit is small. */
function heapLimit(): number {
  const options = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ');
  const given = [...options.matchAll(LIMIT_OPTION)].at(-1)?.[1];
  return given === undefined ? getHeapStatistics().heap_size_limit : Number(given) * 2 ** 20;
}
