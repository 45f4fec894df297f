import type { VirtualTime } from '../time/virtual-time.ts';

type Stored = string | Map<string, string> | string[];

interface Value {
  readonly stored: Stored;
  expiresAt: number;
}

/** Thrown by a command for one type of values on a key of another type. */
export class WrongType extends Error {
  constructor() {
    super('WRONGTYPE Operation against a key holding the wrong kind of value');
  }
}

/** The keys of one server, with their values, until they expire. */
export class Keyspace {
  readonly #time: VirtualTime;
  readonly #values = new Map<string, Value>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  get keys(): readonly string[] {
    return [...this.#values.keys()];
  }

  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /** @throws WrongType */
  text(key: string): string | undefined {
    const stored = this.#find(key)?.stored;
    if (stored !== undefined && typeof stored !== 'string') throw new WrongType();
    return stored;
  }

  /** @throws WrongType */
  hash(key: string): Map<string, string> | undefined {
    const stored = this.#find(key)?.stored;
    if (stored !== undefined && !(stored instanceof Map)) throw new WrongType();
    return stored;
  }

  /** @throws WrongType */
  list(key: string): string[] | undefined {
    const stored = this.#find(key)?.stored;
    if (stored !== undefined && !Array.isArray(stored)) throw new WrongType();
    return stored;
  }

  set(key: string, stored: Stored, ttlMs = Infinity): void {
    this.#values.set(key, { stored, expiresAt: this.#time.now + ttlMs });
  }

  /** @returns whether the key was there */
  delete(key: string): boolean {
    const existed = this.has(key);
    this.#values.delete(key);
    return existed;
  }

  /** @returns whether the key is there */
  expireAt(key: string, at: number): boolean {
    const value = this.#find(key);
    if (value !== undefined) value.expiresAt = at;
    return value !== undefined;
  }

  /** Takes a key over from another server. */
  adopt(key: string, from: Keyspace): void {
    const value = from.#find(key);
    if (value !== undefined) {
      this.#values.set(key, { stored: copied(value.stored), expiresAt: value.expiresAt });
    }
  }

  clear(): void {
    this.#values.clear();
  }

  copy(): Keyspace {
    const copy = new Keyspace(this.#time);
    for (const [key, { stored, expiresAt }] of this.#values) {
      copy.#values.set(key, { stored: copied(stored), expiresAt });
    }
    return copy;
  }

  #find(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined || value.expiresAt > this.#time.now) return value;
    this.#values.delete(key);
    return undefined;
  }
}

function copied(stored: Stored): Stored {
  if (typeof stored === 'string') return stored;
  return stored instanceof Map ? new Map(stored) : [...stored];
}
