/** Goes on, or fails with the reason why it is not to. */
type GoOn = (aborted: Error | undefined) => void;

/** The resumptions, by the contexts of their executions: resolvers know nothing else of these. */
const RESUMPTIONS = new WeakMap<object, Resumption>();

/**
 * Has an execution go on in its client's turn of the event loop, each time that what its resolvers wait for is there: many
 * executions may wait for the same. What comes while it waits for its turn goes on with it, so that loaders get batches.
 */
export class Resumption {
  readonly #inTurn: (job: () => void) => void;
  #waiting: GoOn[] | undefined;
  #aborted: Error | undefined;

  constructor(inTurn: (job: () => void) => void) {
    this.#inTurn = inTurn;
  }

  static of(context: unknown): Resumption | undefined {
    return RESUMPTIONS.get(context as object);
  }

  /** @param context of the execution */
  setOf(context: object): void {
    RESUMPTIONS.set(context, this);
  }

  /** @param goOn must not throw; called within this call if it is the client's turn */
  resume(goOn: GoOn): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(goOn);
      return;
    }
    this.#waiting = [goOn];
    if (this.#aborted === undefined) this.#inTurn(() => this.#goOn());
    else this.#goOn();
  }

  /** What waits, and what comes, fails at once. */
  abort(reason: Error): void {
    this.#aborted = reason;
    this.#goOn();
  }

  #goOn(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const goOn of waiting) goOn(this.#aborted);
  }
}

/** A promise of a resolver. Its execution goes on in a turn, and within that turn, so that what it takes is counted. */
export class Resumed implements PromiseLike<unknown> {
  readonly #promise: Promise<unknown>;
  readonly #resumption: Resumption;

  constructor(promise: Promise<unknown>, resumption: Resumption) {
    this.#promise = promise;
    this.#resumption = resumption;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- both executors take it for the promise
  then<A = unknown, B = never>(
    onValue: ((value: unknown) => A | PromiseLike<A>) | null = null,
    onError: ((reason: unknown) => B | PromiseLike<B>) | null = null,
  ): Promise<A | B> {
    const goOn = (value: unknown): Promise<A | B> =>
      new Promise((resolve, reject) => {
        this.#resumption.resume((aborted) => {
          try {
            if (aborted === undefined) resolve(onValue === null ? (value as A) : onValue(value));
            else if (onError === null) reject(aborted);
            else resolve(onError(aborted));
          } catch (thrown) {
            reject(thrown as Error);
          }
        });
      });
    return this.#promise.then(goOn, onError);
  }
}
