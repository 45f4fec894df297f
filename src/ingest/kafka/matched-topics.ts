import { createHash } from 'node:crypto';
import type { Topic } from '../../graph/graph.ts';
import { MAX_MATCHED } from '../../graph/topics.ts';
import { readPositionText } from './position-text.ts';
import type { Matched } from './driver.ts';

/** Topics of Kafka's own, such as that of consumer groups. */
const KAFKAS_OWN = /^__/;

/** Patterns are few, and a commit has little room. */
const MARK_CHARACTERS = 8;

/** The topics of Kafka that match patterns of the graph, as of the last look. */
export class MatchedTopics {
  #patterns: readonly RegExp[] = [];
  #names: readonly string[] = [];
  /** Topics that were not there at the first look with these patterns, while this process runs. */
  readonly #appeared = new Set<string>();
  /** Marks of the patterns that the group has begun with. */
  readonly #begun = new Set<string>();
  /** Marks of the patterns by which this process has looked before. */
  #looked: ReadonlySet<string> = new Set();
  /** How many match, if these are too many. */
  #tooMany: number | undefined;

  /** Takes the patterns of these topics. What matched before stays until the next look, if it still matches. */
  use(topics: ReadonlyMap<string, Topic>): void {
    this.#patterns = [...topics.values()].flatMap(({ pattern }) => pattern ?? []);
    this.#names = this.#names.filter((name) => this.#matches(name) && !topics.has(name));
  }

  get hasPatterns(): boolean {
    return this.#patterns.length > 0;
  }

  /** In the order of the alphabet. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** Why some are not consumed; undefined: all are. */
  get refusal(): string | undefined {
    if (this.#tooMany === undefined) return undefined;
    const patterns = this.#patterns.map(String).join(', ');
    return `expected at most ${MAX_MATCHED} topics to match ${patterns}, got ${this.#tooMany}: the last ones are not consumed`;
  }

  /** @param there all topics of Kafka @param others topics that no pattern takes up: those that have a name in the graph */
  look(there: readonly string[], others: ReadonlySet<string>): void {
    const matching = there
      .filter((name) => !KAFKAS_OWN.test(name) && !others.has(name) && this.#matches(name))
      .toSorted();
    const before = new Set(this.#names);
    const present = new Set(matching);
    for (const name of this.#appeared) if (!present.has(name)) this.#appeared.delete(name);
    for (const name of matching) if (!before.has(name) && this.#hasLookedFor(name)) this.#appeared.add(name);
    this.#looked = new Set(this.#patterns.map(markOf));
    this.#names = matching.slice(0, MAX_MATCHED);
    this.#tooMany = matching.length > MAX_MATCHED ? matching.length : undefined;
  }

  /** Notes by which patterns the group has begun. @param texts that it has committed with its positions */
  noteTexts(texts: readonly (string | null)[]): void {
    for (const text of texts)
      for (const mark of readPositionText(text)?.patterns?.split(',') ?? []) this.#begun.add(mark);
  }

  /** Notes that this process has joined the group, and so has begun with the patterns of the last look. */
  joined(): void {
    for (const mark of this.#looked) this.#begun.add(mark);
  }

  /** @returns undefined if the topic is consumed by its name */
  matched(name: string): Matched | undefined {
    if (!this.#names.includes(name)) return undefined;
    const marks = this.#patterns.filter((pattern) => pattern.test(name)).map(markOf);
    return {
      patterns: marks.join(','),
      isBegun: this.#appeared.has(name) || marks.some((mark) => this.#begun.has(mark)),
    };
  }

  #matches(name: string): boolean {
    return this.#patterns.some((pattern) => pattern.test(name));
  }

  #hasLookedFor(name: string): boolean {
    return this.#patterns.some((pattern) => pattern.test(name) && this.#looked.has(markOf(pattern)));
  }
}

/** A short text for a pattern, without the characters that have a meaning in a position's text. */
function markOf({ source }: RegExp): string {
  return createHash('sha256').update(source).digest('base64url').slice(0, MARK_CHARACTERS);
}
