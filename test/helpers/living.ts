import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';

/** Collections of garbage that an object has to outlive to count as alive. */
const ROUNDS = 30;

/** Objects, to check whether they are still in memory. */
export class Living {
  readonly #refs: WeakRef<object>[] = [];

  add(...objects: object[]): void {
    for (const object of objects) this.#refs.push(new WeakRef(object));
  }

  /** Returns how many objects are still in memory, after a collection of garbage. */
  async count(): Promise<number> {
    const { gc } = globalThis;
    assert.ok(gc, 'expected node --expose-gc');
    // An object that was read through a WeakRef lives until the end of that turn; V8 itself may hold one for some more. One
    // that is leaked outlives all rounds.
    let living = this.#refs;
    for (let round = 0; round < ROUNDS && living.length > 0; round += 1) {
      await setImmediate();
      gc();
      living = living.filter((ref) => ref.deref() !== undefined);
    }
    return living.length;
  }
}
