import type { Event, JsonValue } from './event.ts';
import { checkDepth, checkKey } from './safe-keys.ts';

/** Names remembered per generation; two generations are kept, so that an event with ids as keys can't grow the memo. */
const MEMO_SIZE = 10_000;

/** Longer names are worked out each time, so that the memo's bytes are bounded too. */
const MEMO_KEY_LENGTH = 100;

/**
 * Turns the keys of events into snake_case. Topics repeat the same few keys for ever, so each name is worked out once.
 * The rules are in docs/reference/snake-case.md.
 *
 *   lookup ──► young ──miss──► old ──miss──► work it out
 *               ▲               │                │
 *               └───────────────┴────────────────┘
 *   young is full: it becomes old, and the old one goes. A name in use moves up again before it is lost.
 */
export class SnakeCase {
  readonly #memoSize: number;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  constructor(memoSize = MEMO_SIZE) {
    this.#memoSize = memoSize;
  }

  /** How many names are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /**
   * Changes arrays in place, and makes a new object of each object. If two keys become equal, the later one wins.
   *
   * @param value a result of JSON.parse, owned by the caller
   * @throws DecodeError `too_deep` or `forbidden_key`
   */
  transform<T extends JsonValue>(value: T): T {
    return this.#walk(value, 1) as T;
  }

  /**
   * Returns the event's top-level fields that `transform` would give one of these names, with their values unchanged.
   *
   * @param names in snake_case
   */
  pick(event: Event, names: readonly string[]): Event {
    const picked = Object.create(null) as Event;
    if (names.length === 0) return picked;
    for (const key in event) {
      const name = this.name(key);
      if (names.includes(name)) picked[name] = event[key] as JsonValue;
    }
    return picked;
  }

  name(key: string): string {
    let name = this.#young.get(key);
    if (name !== undefined) return name;
    name = this.#old.get(key) ?? snakeCase(key);
    if (key.length > MEMO_KEY_LENGTH) return name;
    if (this.#young.size >= this.#memoSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, name);
    return name;
  }

  #walk(value: JsonValue, depth: number): JsonValue {
    if (typeof value !== 'object' || value === null) return value;
    checkDepth(depth);
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        value[index] = this.#walk(value[index] as JsonValue, depth + 1);
      }
      return value;
    }
    const renamed: { [key: string]: JsonValue } = {};
    for (const key in value) {
      const child = this.#walk(value[key] as JsonValue, depth + 1);
      const name = this.name(key);
      checkKey(name, child);
      renamed[name] = child;
    }
    return renamed;
  }
}

const UNCHANGED = /^[a-z0-9_]*$/;
const SEPARATORS = /[-.\s]/gu;

/**
 * The last character of a word before another word: a small letter, a letter without case or a digit, before a capital;
 * and the last but one capital of a run before a small letter, unless this letter is the `s` of a plural (`userIDs`).
 * The expression looks ahead at most three characters, so it takes linear time for any key. A lookbehind takes three
 * times as long.
 */
const WORD_END =
  /[\p{Ll}\p{Lo}\p{M}\p{Nd}](?=\p{Lu})|\p{Lu}(?=\p{Lu}\p{Ll})(?!\p{Lu}s(?![\p{Ll}\p{Lo}\p{M}]))/gu;

/** Returns the name of an event's key in the graph: `userIDs` → `user_ids`. Rules: docs/reference/snake-case.md. */
export function snakeCase(key: string): string {
  if (UNCHANGED.test(key)) return key;
  return key.replace(SEPARATORS, '_').replace(WORD_END, '$&_').toLowerCase();
}
