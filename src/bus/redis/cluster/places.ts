import { SLOTS, slotOf } from './slot.ts';

/** Where something is in a cluster: in the slot of a word. */
export interface Place {
  readonly topic: string;
  /** Stands in braces in all names of the place. */
  readonly word: string;
  /** The channel's name in Redis. */
  readonly channel: string;
}

/** The items in one place. */
interface Part<T> {
  readonly word: string;
  readonly all: T[];
  /** The names of their channels in Redis. */
  readonly names: string[];
}

/**
 * The number of places of a spread topic. They are evenly spaced over the slots, so that 2, 3, 4, 6 or 12 masters with
 * equal numbers of slots get equal numbers of places.
 */
const PLACES = 12;

/** How far a place may be from the middle of its twelfth of the slots. A lower value takes a longer search for a word. */
const TOLERANCE = 64;

/**
 * Assigns channels to slots. All channels of a topic are in the slot of its name; those of a spread topic are in twelve
 * slots, each channel always in the same one. Kafka's topic names have no `/`.
 */
export class Places {
  readonly #prefix: string;
  readonly #spread: ReadonlySet<string>;
  /** The words of topics that are spread, by topic. */
  readonly #words = new Map<string, readonly string[]>();

  constructor(prefix: string, spread: ReadonlySet<string>) {
    this.#prefix = prefix;
    this.#spread = spread;
  }

  isSpread(topic: string): boolean {
    return this.#spread.has(topic);
  }

  /** The words of all places of the topic. */
  wordsOf(topic: string): readonly string[] {
    if (!this.#spread.has(topic)) return [topic];
    const known =
      this.#words.get(topic) ?? Array.from({ length: PLACES }, (_, index) => wordAt(topic, index));
    this.#words.set(topic, known);
    return known;
  }

  /** The channel's name has the word in braces, which puts it into the word's slot: `<prefix>{<word>}…`. */
  of(topic: string, channel: string): Place {
    const words = this.wordsOf(topic);
    const word = (words.length > 1 ? words[slotOf(channel) % words.length] : undefined) ?? topic;
    const rest = channel.startsWith(this.#prefix + topic)
      ? channel.slice(this.#prefix.length + topic.length)
      : `:${channel}`;
    return { topic, word, channel: `${this.#prefix}{${word}}${rest}` };
  }

  /** Groups the items by the place of their channels, in order. */
  parts<T>(topic: string, all: readonly T[], channelOf: (one: T) => string): readonly Part<T>[] {
    const parts = new Map<string, Part<T>>();
    for (const one of all) {
      const { word, channel } = this.of(topic, channelOf(one));
      let part = parts.get(word);
      if (part === undefined) parts.set(word, (part = { word, all: [], names: [] }));
      part.all.push(one);
      part.names.push(channel);
    }
    return [...parts.values()];
  }
}

function wordAt(topic: string, index: number): string {
  const middle = ((index + 0.5) * SLOTS) / PLACES;
  for (let attempt = 0; ; attempt += 1) {
    const word = `${topic}/${index}.${attempt}`;
    if (Math.abs(slotOf(word) - middle) <= TOLERANCE) return word;
  }
}
