/** Plain JSON, deep-frozen. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * What was looked at in one place of a viewer:
 * `value`, what stands there; `presence`, whether anything does; `whole`, it and all that it holds.
 */
type Aspect = 'value' | 'presence' | 'whole';

/** One thing that an execution has read of its viewer. */
export interface Read {
  readonly aspect: Aspect;
  readonly path: readonly string[];
}

/** Stands for a place with nothing in it. No JSON text reads like it, so absent is not null. */
const ABSENT = '-';

const NONE: ReadonlyMap<string, Read> = new Map();

/**
 * A set of reads, each once. It only grows.
 *
 * Two viewers *agree* on a set if every read of it finds the same in both, by type and value: code that saw nothing
 * else of a viewer can't tell them apart.
 */
export class ReadSet {
  /** Most executions read nothing: they need no map of their own. */
  #reads = NONE;

  get size(): number {
    return this.#reads.size;
  }

  add(aspect: Aspect, path: readonly string[]): void {
    const key = keyOf(aspect, path);
    if (this.#reads.has(key)) return;
    if (this.#reads === NONE) this.#reads = new Map();
    (this.#reads as Map<string, Read>).set(key, { aspect, path });
  }

  /** A copy that does not grow with this one. */
  snapshot(): ReadSet {
    const copy = new ReadSet();
    if (this.#reads.size > 0) copy.#reads = new Map(this.#reads);
    return copy;
  }

  /** Do viewers that agree on this set agree on the other one too? */
  covers(other: ReadSet): boolean {
    for (const read of other.#reads.values()) if (!this.#coversRead(read)) return false;
    return true;
  }

  /** Equal for two viewers exactly if they agree on this set. */
  valuesIn(viewer: Json): string {
    let values = '';
    for (const { aspect, path } of this.#reads.values()) values += `${valueOf(viewer, aspect, path)}\n`;
    return values;
  }

  /** The first place, for people (`org.id`), in which two viewers differ; undefined if they agree on this set. */
  difference(one: Json, other: Json): string | undefined {
    for (const { aspect, path } of this.#reads.values()) {
      if (valueOf(one, aspect, path) !== valueOf(other, aspect, path)) return path.join('.') || '*';
    }
    return undefined;
  }

  /** Equal for sets of the same reads, in whatever order they came. */
  get identity(): string {
    return [...this.#reads.keys()].toSorted().join('\n');
  }

  #coversRead({ aspect, path }: Read): boolean {
    if (this.#reads.has(keyOf(aspect, path))) return true;
    if (aspect === 'presence' && this.#reads.has(keyOf('value', path))) return true;
    for (let length = path.length; length >= 0; length -= 1) {
      if (this.#reads.has(keyOf('whole', path.slice(0, length)))) return true;
    }
    return false;
  }
}

function keyOf(aspect: Aspect, path: readonly string[]): string {
  return `${aspect}${JSON.stringify(path)}`;
}

function valueOf(viewer: Json, aspect: Aspect, path: readonly string[]): string {
  const value = jsonAt(viewer, path);
  if (value === undefined) return ABSENT;
  if (aspect === 'presence') return 'present';
  if (Object.is(value, -0)) return '-0'; // which JSON takes for 0
  if (aspect === 'whole' || typeof value !== 'object' || value === null) return JSON.stringify(value);
  return Array.isArray(value) ? '[' : '{';
}

/** @returns undefined where there is nothing */
export function jsonAt(viewer: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = viewer;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as { readonly [key: string]: Json })[key];
  }
  return value;
}
