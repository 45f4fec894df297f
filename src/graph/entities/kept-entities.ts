import { LRUCache } from 'lru-cache';

/** Characters of JSON kept by one pod for one graph; the values in memory take about twice as many bytes. */
const MAX_CHARACTERS = 8_000_000;

/** Keeps fetched fields of entities with `ttl_seconds` for later events. The least recently used is dropped first. */
export class KeptEntities {
  readonly #kept: LRUCache<string, { readonly value: unknown }>;

  /** @param now ms, of any clock */
  constructor(now: () => number) {
    this.#kept = new LRUCache<string, { readonly value: unknown }>({
      maxSize: MAX_CHARACTERS,
      sizeCalculation: ({ value }, identity) => JSON.stringify(value ?? null).length + identity.length,
      perf: { now },
      ttlResolution: 0,
    });
  }

  get(identity: string): { readonly value: unknown } | undefined {
    return this.#kept.get(identity);
  }

  /** @param value without errors; executions share it */
  set(identity: string, value: unknown, ttlMs: number): void {
    this.#kept.set(identity, { value }, { ttl: ttlMs });
  }
}
