/** Whose code an event runs: a pod. A frozen one's events wait until it goes on; a dead one's never happen. */
export interface Owner {
  readonly name: string;
  state: 'running' | 'frozen' | 'dead';
}

export interface Timer {
  readonly at: number;
  readonly owner: Owner | undefined;
  /** Undefined once it has run or is cancelled. */
  run: (() => void) | undefined;
}

/** Kept from before the globals are replaced. */
const nextTurn = globalThis.setImmediate;
const realNow = performance.now.bind(performance);

/** Callbacks of one turn of the real event loop; between two of them Node runs all microtasks. */
const TURN = 64;

/** Virtual time that passes at once, however long the machine stood still. */
const MOST_AT_ONCE_MS = 500;

/** 2026-01-01: timestamps of events look like those of real ones. */
const BEGIN = Date.UTC(2026, 0, 1);

const rethrow = (error: unknown): never => {
  throw error;
};

/**
 * Time that goes from one event to the next, with nothing in between. What an event sets off in microtasks is over before
 * the next event, and what it schedules belongs to the event's owner unless it says otherwise.
 */
export class VirtualTime {
  /** The next one last; of those at one time, the one that was added first. */
  readonly #queue: Timer[] = [];
  readonly #heldBack = new Map<Owner, Timer[]>();
  #now = BEGIN;
  #owner: Owner | undefined;
  #running = false;
  /** Up to when events may happen now; undefined: all may. */
  #latest: (() => number) | undefined;

  /** ms since 1970 */
  get now(): number {
    return this.#latest === undefined ? this.#now : Math.max(this.#now, this.#latest());
  }

  /** ms since the run began */
  get elapsed(): number {
    return this.#now - BEGIN;
  }

  /** Whose event is happening. */
  get owner(): Owner | undefined {
    return this.#owner;
  }

  /**
   * Schedules an event.
   *
   * @param owner whose code it runs; undefined: no pod's, such as what a simulated server does
   */
  after(ms: number, owner: Owner | undefined, run: () => void): Timer {
    return this.at(this.now + (ms > 0 ? ms : 0), owner, run);
  }

  at(at: number, owner: Owner | undefined, run: () => void): Timer {
    const timer = { at: Math.max(at, this.#now), owner, run };
    const queue = this.#queue;
    let [low, high] = [0, queue.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((queue[middle]?.at ?? 0) > timer.at) low = middle + 1;
      else high = middle;
    }
    queue.splice(low, 0, timer);
    return timer;
  }

  cancel(timer: Timer): void {
    timer.run = undefined;
  }

  /** Runs events whose owner was frozen: they happen now, in their order. */
  thaw(owner: Owner): void {
    owner.state = 'running';
    const held = this.#heldBack.get(owner) ?? [];
    this.#heldBack.delete(owner);
    for (const timer of held) {
      const { run } = timer;
      if (run === undefined) continue;
      // The first object stays the one that `cancel` is given.
      this.at(this.#now, owner, () => {
        if (timer.run === undefined) return;
        timer.run = undefined;
        run();
      });
    }
  }

  /**
   * Runs events as real time goes, or a number of times as fast, and waits for more: for tests that wait in real time. A
   * machine that stands still for a while does not have timers fire before what they wait for.
   */
  accompany(until: () => boolean, speed: number): Promise<void> {
    let [at, before] = [this.#now, realNow()];
    this.#latest = () => {
      const now = realNow();
      at += Math.min((now - before) * speed, MOST_AT_ONCE_MS);
      before = now;
      return at;
    };
    return this.run(until, rethrow);
  }

  /** Runs events until `until` says so, or none is left. Errors that events throw go to `onError`. */
  run(until: () => boolean, onError: (error: unknown) => void): Promise<void> {
    if (this.#running) throw new Error('expected virtual time to stand still, but it runs already');
    this.#running = true;
    return new Promise((resolve) => {
      let isOver = false;
      const step = (): void => {
        if (isOver || (!until() && this.#step(until, onError))) return;
        isOver = true;
        this.#running = false;
        this.#owner = undefined;
        resolve();
      };
      const turn = (): void => {
        for (let count = 0; count < TURN; count += 1) nextTurn(step);
        nextTurn(() => {
          if (!isOver) turn();
        });
      };
      turn();
    });
  }

  /** Runs events up to and including the first one that has an owner, whose microtasks must run before the next. */
  #step(until: () => boolean, onError: (error: unknown) => void): boolean {
    for (;;) {
      if (this.#latest !== undefined && (this.#queue.at(-1)?.at ?? Infinity) > this.#latest()) return true;
      const timer = this.#queue.pop();
      if (timer === undefined) return false;
      const { run, owner } = timer;
      if (run === undefined || owner?.state === 'dead') continue;
      this.#now = timer.at;
      if (owner?.state === 'frozen') {
        this.#holdBack(owner, timer);
        continue;
      }
      timer.run = undefined;
      this.#owner = owner;
      try {
        run();
      } catch (error) {
        onError(error);
      }
      if (owner !== undefined) return true;
      if (until()) return true;
    }
  }

  #holdBack(owner: Owner, timer: Timer): void {
    const held = this.#heldBack.get(owner);
    if (held === undefined) this.#heldBack.set(owner, [timer]);
    else held.push(timer);
  }
}
