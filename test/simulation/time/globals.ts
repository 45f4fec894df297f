import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Timer, VirtualTime } from './virtual-time.ts';

/** The part of setTimeout's result that is used. */
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

  unref(): this {
    return this;
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
 * Replaces timers, clocks and randomness by those of the simulation: the global ones, and setTimeout and setImmediate
 * of `node:timers/promises`, which must not be given signals.
 *
 * @returns restores the real ones
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
  const restore = [
    replace(globalThis, {
      setTimeout: later,
      clearTimeout: clear,
      setInterval: every,
      clearInterval: clear,
      setImmediate: soon,
      clearImmediate: clear,
    }),
    replace(timers, {
      setTimeout: (ms: number) => new Promise((resolve) => later(resolve, ms)),
      setImmediate: () => new Promise((resolve) => soon(resolve)),
    }),
    replace(globalThis.crypto, {
      getRandomValues: (values: unknown) => {
        if (!(values instanceof Uint32Array)) throw new Error('expected a Uint32Array to be filled');
        values.forEach((_, at) => (values[at] = random() * 2 ** 32));
        return values;
      },
    }),
    replace(Date, { now: () => Math.floor(time.now) }),
    replace(Math, { random }),
    replace(performance, { now: () => time.elapsed }),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const one of restore) one();
    syncBuiltinESMExports();
  };
}

/** @returns restores the object's own members */
function replace(object: object, members: Readonly<Record<string, unknown>>): () => void {
  const own = Object.fromEntries(
    Object.keys(members).map((name) => [name, Reflect.get(object, name) as unknown]),
  );
  Object.assign(object, members);
  return () => void Object.assign(object, own);
}
