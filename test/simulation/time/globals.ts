import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Timer, VirtualTime } from './virtual-time.ts';

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  clearImmediate: globalThis.clearImmediate,
};
const realNow = Date.now;
const realRandom = Math.random;
const realPerformanceNow = performance.now;
const realTimers = { setTimeout: timers.setTimeout, setImmediate: timers.setImmediate };
const { crypto } = globalThis;
const realRandomValues = crypto.getRandomValues.bind(crypto);

/** What setTimeout returns, as far as it is used. */
class Handle {
  readonly #time: VirtualTime;
  readonly #run: () => void;
  readonly #ms: number;
  #timer: Timer;

  constructor(time: VirtualTime, ms: number, run: () => void) {
    this.#time = time;
    this.#run = run;
    this.#ms = ms;
    this.#timer = time.after(ms, time.owner, run);
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  refresh(): this {
    this.cancel();
    this.#timer = this.#time.after(this.#ms, this.#time.owner, this.#run);
    return this;
  }

  cancel(): void {
    this.#time.cancel(this.#timer);
  }
}

const clear = (handle: Handle | undefined): void => handle?.cancel?.();

type Callback = (...args: unknown[]) => void;

/**
 * Makes timers, clocks and randomness those of the simulation: the global ones, and setTimeout and setImmediate of
 * `node:timers/promises`, which must not be given signals.
 *
 * @returns gives the real ones back
 */
export function replaceGlobals(time: VirtualTime, random: () => number): () => void {
  const later = (callback: Callback, ms = 0, ...args: unknown[]): Handle =>
    new Handle(time, Math.max(1, Math.trunc(ms)), () => callback(...args));
  const every = (callback: Callback, ms = 0, ...args: unknown[]): Handle => {
    const handle: Handle = new Handle(time, Math.max(1, Math.trunc(ms)), () => {
      handle.refresh();
      callback(...args);
    });
    return handle;
  };
  const soon = (callback: Callback, ...args: unknown[]): Handle =>
    new Handle(time, 0, () => callback(...args));
  Object.assign(globalThis, {
    setTimeout: later,
    clearTimeout: clear,
    setInterval: every,
    clearInterval: clear,
    setImmediate: soon,
    clearImmediate: clear,
  });
  Date.now = () => Math.floor(time.now);
  Math.random = random;
  Object.assign(timers, {
    setTimeout: (ms: number) => new Promise((resolve) => later(resolve, ms)),
    setImmediate: () => new Promise((resolve) => soon(resolve)),
  });
  syncBuiltinESMExports();
  crypto.getRandomValues = (values) => {
    if (values instanceof Uint32Array) values.forEach((_, at) => (values[at] = random() * 2 ** 32));
    else throw new Error('expected a Uint32Array to be filled with random numbers');
    return values;
  };
  performance.now = () => time.elapsed;
  return () => {
    Object.assign(globalThis, real);
    Object.assign(timers, realTimers);
    syncBuiltinESMExports();
    crypto.getRandomValues = realRandomValues;
    Date.now = realNow;
    Math.random = realRandom;
    performance.now = realPerformanceNow;
  };
}
