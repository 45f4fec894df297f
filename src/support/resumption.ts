/** Continues an execution, or makes it fail with the reason of its abort. */
type GoOn = (aborted: Error | undefined) => void;

/** Resumptions by the context of the execution: resolvers know nothing else of their execution. */
const RESUMPTIONS = new WeakMap<object, Resumption>();

/**
 * Continues an execution in its client's turn of the event loop each time that a resolver's promise is fulfilled: many
 * executions may wait for one promise. Promises fulfilled before the turn go on together, so that loaders get batches.
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

  /** Makes all waiting and later promises fail at once. */
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

/** A resolver's promise. The execution goes on within a turn, so that the turn counts the time that it takes. */
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
