/** Plain JSON, deep-frozen. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * The aspect that an execution has read at one path of a viewer: `value`, the value there; `presence`, whether there is
 * one; `whole`, the value with everything that it contains.
 */
type Aspect = 'value' | 'presence' | 'whole';

/** A question about the value at a path of a viewer; its answer depends on nothing else. */
export type ViewerTest = (value: Json | undefined) => boolean;

/** One read of a viewer by an execution: an aspect of the value at a path, or only the answer of a test of it. */
export type Read =
  | { readonly aspect: Aspect; readonly path: readonly string[] }
  | { readonly aspect: 'test'; readonly path: readonly string[]; readonly test: ViewerTest };

/** Stands for an absent value. No JSON text is equal to it, so absent differs from null. */
const ABSENT = '-';

const NONE: ReadonlyMap<string, Read> = new Map();

/**
 * A set of distinct reads. It only grows.
 *
 * Two viewers *agree* on a set if every read in it finds the same type and value in both: code that has read only this of a
 * viewer can't distinguish them.
 */
export class ReadSet {
  /** Most executions read nothing of the viewer, so a map is made at the first read only. */
  #reads = NONE;

  get size(): number {
    return this.#reads.size;
  }

  add(aspect: Aspect, path: readonly string[]): void {
    this.#add(keyOf(aspect, path), { aspect, path });
  }

  /**
   * Adds the answer of a test instead of the value: viewers with different values but the same answer agree.
   *
   * @param name equal only for tests that give equal answers for all values
   */
  addTest(name: string, path: readonly string[], test: ViewerTest): void {
    this.#add(`${keyOf('test', path)}${name}`, { aspect: 'test', path, test });
  }

  /** A copy that does not grow with this one. */
  snapshot(): ReadSet {
    const copy = new ReadSet();
    if (this.#reads.size > 0) copy.#reads = new Map(this.#reads);
    return copy;
  }

  /** A set of the reads of both. */
  union(other: ReadSet): ReadSet {
    const both = this.snapshot();
    for (const [key, read] of other.#reads) both.#add(key, read);
    return both;
  }

  /** Whether viewers that agree on this set also agree on the other one. */
  covers(other: ReadSet): boolean {
    for (const [key, read] of other.#reads)
      if (!this.#reads.has(key) && !this.#coversRead(read)) return false;
    return true;
  }

  /** A text that is equal for two viewers exactly if they agree on this set. */
  valuesIn(viewer: Json): string {
    let values = '';
    for (const read of this.#reads.values()) values += `${valueOf(viewer, read)}\n`;
    return values;
  }

  /** The first path (`org.id`) at which two viewers differ, for metrics; undefined if they agree on this set. */
  difference(one: Json, other: Json): string | undefined {
    for (const read of this.#reads.values()) {
      if (valueOf(one, read) !== valueOf(other, read)) return read.path.join('.') || '*';
    }
    return undefined;
  }

  /** The paths that it reads, for people: `org.id`, or `*` for the whole viewer. */
  get paths(): readonly string[] {
    return [...new Set([...this.#reads.values()].map(({ path }) => path.join('.') || '*'))].toSorted();
  }

  /** A text that is equal for sets of the same reads, in any order. */
  get identity(): string {
    return [...this.#reads.keys()].toSorted().join('\n');
  }

  #add(key: string, read: Read): void {
    if (this.#reads.has(key)) return;
    if (this.#reads === NONE) this.#reads = new Map();
    (this.#reads as Map<string, Read>).set(key, read);
  }

  /** Whether other reads in the set imply this one. */
  #coversRead({ aspect, path }: Read): boolean {
    if (aspect === 'presence' && this.#reads.has(keyOf('value', path))) return true;
    for (let length = path.length; length >= 0; length -= 1) {
      if (this.#reads.has(keyOf('whole', path.slice(0, length)))) return true;
    }
    return false;
  }
}

function keyOf(aspect: Read['aspect'], path: readonly string[]): string {
  return `${aspect}${JSON.stringify(path)}`;
}

function valueOf(viewer: Json, read: Read): string {
  const { aspect, path } = read;
  const value = jsonAt(viewer, path);
  if (aspect === 'test') return String(read.test(value));
  if (value === undefined) return ABSENT;
  if (aspect === 'presence') return 'present';
  if (Object.is(value, -0)) return '-0'; // which JSON takes for 0
  if (aspect === 'whole' || typeof value !== 'object' || value === null) return JSON.stringify(value);
  return Array.isArray(value) ? '[' : '{';
}

/** Whether a viewer has any value: a viewer without values is anonymous. */
export function isKnown(viewer: Json | undefined): boolean {
  return typeof viewer === 'object' && viewer !== null && Object.keys(viewer).length > 0;
}

/** @returns the value at a path; undefined if there is none */
export function jsonAt(viewer: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = viewer;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as { readonly [key: string]: Json })[key];
  }
  return value;
}
