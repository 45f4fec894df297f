/** The pod whose code an event runs. Events of a frozen pod wait until it thaws; events of a dead one never happen. */
export interface Owner {
  readonly name: string;
  state: 'running' | 'frozen' | 'dead';
}

export interface Timer {
  readonly at: number;
  readonly owner: Owner | undefined;
  /** Undefined when the event has happened or is cancelled. */
  run: (() => void) | undefined;
}

/** The real functions, from before the globals are replaced. */
const nextTurn = globalThis.setImmediate;
const realNow = performance.now.bind(performance);

/** Callbacks in one turn of the real event loop; Node runs all microtasks between two of them. */
const TURN = 64;

/** The most virtual time that passes at once, even if the machine stood still for longer. */
const MOST_AT_ONCE_MS = 500;

/** 2026-01-01, so that events have realistic timestamps. */
const BEGIN = Date.UTC(2026, 0, 1);

const rethrow = (error: unknown): never => {
  throw error;
};

/**
 * Time that jumps from one event to the next. An event's microtasks are over before the next event, and events that it
 * schedules belong to its owner unless it says otherwise.
 */
export class VirtualTime {
  /** The next event is last. Of events at the same time, the one that was added first happens first. */
  readonly #queue: Timer[] = [];
  readonly #heldBack = new Map<Owner, Timer[]>();
  #now = BEGIN;
  #owner: Owner | undefined;
  #running = false;
  /** Returns the time up to which events may happen now; undefined: all may. */
  #latest: (() => number) | undefined;

  /** ms since 1970 */
  get now(): number {
    return this.#latest === undefined ? this.#now : Math.max(this.#now, this.#latest());
  }

  /** ms since the run began */
  get elapsed(): number {
    return this.#now - BEGIN;
  }

  /** The owner of the present event. */
  get owner(): Owner | undefined {
    return this.#owner;
  }

  /**
   * Schedules an event.
   *
   * @param owner the pod whose code runs; undefined: no pod's code, for instance a simulated server's
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

  /** Lets the events of a frozen owner happen now, in their order. */
  thaw(owner: Owner): void {
    owner.state = 'running';
    const held = this.#heldBack.get(owner) ?? [];
    this.#heldBack.delete(owner);
    for (const timer of held) {
      const { run } = timer;
      if (run === undefined) continue;
      // The first timer stays the one that `cancel` is given.
      this.at(this.#now, owner, () => {
        if (timer.run === undefined) return;
        timer.run = undefined;
        run();
      });
    }
  }

  /**
   * Runs events in step with real time, or faster by a factor, and waits for more: for tests that wait in real time. If
   * the machine stands still for a while, timers do not fire before the events that they wait for.
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

  /** Runs events until `until` returns true, or no event is left. Errors that events throw go to `onError`. */
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

  /** Runs events up to and including the first one with an owner, whose microtasks must run before the next event. */
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
