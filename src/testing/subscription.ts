import type { ExecutionResult, GraphQLError } from 'graphql';
import type { SerializedResult } from '../hub/result.ts';
import type { Subscriber } from '../hub/subscriber.ts';
import type { Json } from '../lazy/reads.ts';
import type { JsonParse } from './json-parse.ts';

/** A subscription of a test. Its iterator gives each result once, and ends with the subscription, after all results. */
export class TestSubscription<Data> implements AsyncIterableIterator<ExecutionResult<Data>> {
  /** All results that have come, in order. */
  readonly results: ExecutionResult<Data>[];
  /** The number of results that have been iterated over. */
  #taken = 0;
  #isOver = false;
  /** Calls of `next` that wait, oldest first. */
  #waiting: ((result: IteratorResult<ExecutionResult<Data>, undefined>) => void)[] = [];
  readonly #parse: JsonParse;
  readonly #leave: () => void;

  /**
   * @param parse makes the results
   * @param begin joins the hub as this subscriber, and returns the function that leaves it
   * @internal
   */
  constructor(viewer: Json, parse: JsonParse, begin: (subscriber: Subscriber) => () => void) {
    this.#parse = parse;
    // The array belongs to the same context as the results.
    this.results = parse('[]') as ExecutionResult<Data>[];
    this.#leave = begin({
      viewer,
      owner: this,
      wantsGaps: false,
      isBehind: false,
      deliver: (result) => this.#add(result),
      reconnect: () => undefined,
      end: (errors) => this.#end(errors),
    });
  }

  next(): Promise<IteratorResult<ExecutionResult<Data>, undefined>> {
    const value = this.results[this.#taken];
    if (value !== undefined) {
      this.#taken += 1;
      return Promise.resolve({ value, done: false });
    }
    if (this.#isOver) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  /** Leaves the subscription: no more events come. */
  return(): Promise<IteratorResult<ExecutionResult<Data>, undefined>> {
    if (!this.#isOver) {
      this.#leave();
      this.#finish();
    }
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #add({ json }: SerializedResult): void {
    this.results.push(this.#parse(json.toString()) as ExecutionResult<Data>);
    this.#hand();
  }

  /** The gateway ends the subscription: the errors that a client gets as `error` come as a last result. */
  #end(errors: readonly GraphQLError[]): void {
    if (errors.length > 0)
      this.results.push(this.#parse(JSON.stringify({ errors })) as ExecutionResult<Data>);
    this.#hand();
    this.#finish();
  }

  #hand(): void {
    while (this.#waiting.length > 0 && this.#taken < this.results.length) {
      const value = this.results[this.#taken];
      this.#taken += 1;
      if (value !== undefined) this.#waiting.shift()?.({ value, done: false });
    }
  }

  #finish(): void {
    this.#isOver = true;
    for (const resolve of this.#waiting) resolve({ value: undefined, done: true });
    this.#waiting = [];
  }
}
