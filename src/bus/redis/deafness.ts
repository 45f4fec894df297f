import type { BusTiming } from './timing.ts';

interface DeafnessOptions {
  /**
   * Whether what this pod publishes reaches others.
   *
   * @throws if Redis takes nothing, or does not tell
   */
  readonly othersListen: () => Promise<boolean>;
  readonly timing: Pick<BusTiming, 'beatMs' | 'deafMs'>;
  readonly changed: (isDeaf: boolean) => void;
}

/**
 * Whether this pod hears nothing of Redis while others do. That others listen is what tells it from an outage of Redis, in
 * which its clients are served no better elsewhere. Only replies of Redis count, one for each heartbeat: a Redis that was
 * frozen is heard again before it has given many.
 */
export class Deafness {
  readonly #options: DeafnessOptions;
  /** In a row, that others listen; nothing has been heard between them. */
  #replies = 0;
  #isAsking = false;
  #isDeaf = false;

  constructor(options: DeafnessOptions) {
    this.#options = options;
  }

  get isDeaf(): boolean {
    return this.#isDeaf;
  }

  /** The pod has heard itself. */
  heard(): void {
    this.unknown();
    this.#become(false);
  }

  /** Silence means nothing just now: the pod reads nothing, say, or has no connection to publish over. */
  unknown(): void {
    this.#replies = 0;
  }

  /** Since the last heartbeat the pod has heard nothing. */
  async silent(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#replies += 1;
    const { othersListen, timing } = this.#options;
    const others = await othersListen().catch(() => undefined);
    this.#isAsking = false;
    if (others === false) this.#become(false);
    if (others !== true) this.unknown();
    // None of it is left if the pod has heard something meanwhile.
    if (this.#replies * timing.beatMs >= timing.deafMs) this.#become(true);
  }

  #become(isDeaf: boolean): void {
    if (isDeaf === this.#isDeaf) return;
    this.#isDeaf = isDeaf;
    this.#options.changed(isDeaf);
  }
}
