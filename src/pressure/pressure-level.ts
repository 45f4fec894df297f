import type { Level } from './policy.ts';

/** The parts of a pod read the level before they take on more work. The pressure monitor sets it. */
export class PressureLevel {
  #level: Level = 0;
  #pauses = false;

  /** @param pauses whether nothing is to be consumed */
  set(level: Level, pauses: boolean): void {
    this.#level = level;
    this.#pauses = pauses;
  }

  get level(): Level {
    return this.#level;
  }

  /** Why the pod takes no new connections; undefined if it takes them. */
  notReady(): string | undefined {
    return this.#level >= 1 ? `this pod is under pressure, level ${this.#level}` : undefined;
  }

  /** Why the pod consumes nothing; undefined if it may. */
  readonly pause = (): string | undefined => (this.#pauses ? 'this pod is under pressure' : undefined);
}
