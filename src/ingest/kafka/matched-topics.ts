import type { Topic } from '../../graph/graph.ts';
import { MAX_MATCHED } from '../../graph/topics.ts';

/** Topics of Kafka's own, such as that of consumer groups. */
const KAFKAS_OWN = /^__/;

/** The topics of Kafka that match patterns of the graph, as of the last look. */
export class MatchedTopics {
  #patterns: readonly RegExp[] = [];
  #names: readonly string[] = [];
  /** Topics that were not there at the first look with these patterns, while this process runs. */
  readonly #appeared = new Set<string>();
  /** Patterns by which this process has looked before. */
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
    for (const name of this.#appeared) if (!matching.includes(name)) this.#appeared.delete(name);
    for (const name of matching) if (!before.has(name) && this.#hasLookedFor(name)) this.#appeared.add(name);
    this.#looked = new Set(this.#patterns.map(String));
    this.#names = matching.slice(0, MAX_MATCHED);
    this.#tooMany = matching.length > MAX_MATCHED ? matching.length : undefined;
  }

  /**
   * The topics that were made since their pattern is consumed: this process has seen them appear, or the group has positions
   * on others of the pattern, which it commits for all of them when it joins for the first time.
   *
   * @param known topics on which the group has positions
   */
  made(known: ReadonlySet<string>): ReadonlySet<string> {
    const begun = this.#patterns.filter((pattern) => [...known].some((name) => pattern.test(name)));
    const isMade = (name: string): boolean =>
      this.#appeared.has(name) || begun.some((pattern) => pattern.test(name));
    return new Set(this.#names.filter((name) => !known.has(name) && isMade(name)));
  }

  #matches(name: string): boolean {
    return this.#patterns.some((pattern) => pattern.test(name));
  }

  #hasLookedFor(name: string): boolean {
    return this.#patterns.some((pattern) => pattern.test(name) && this.#looked.has(String(pattern)));
  }
}
