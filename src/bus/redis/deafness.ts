import type { BusTiming } from './timing.ts';

interface DeafnessOptions {
  /**
   * Whether messages of this pod reach others.
   *
   * @throws if Redis accepts nothing, or does not answer
   */
  readonly othersListen: () => Promise<boolean>;
  readonly timing: Pick<BusTiming, 'beatMs' | 'deafMs'>;
  readonly changed: (isDeaf: boolean) => void;
}

/**
 * Detects that this pod hears nothing from Redis while others do. If others did not hear it either, it would be an outage
 * of Redis, in which no other pod could serve this pod's clients better. Only replies of Redis count, one for each
 * heartbeat: after Redis was frozen, the pod hears it again before Redis has given many replies.
 */
export class Deafness {
  readonly #options: DeafnessOptions;
  /** Replies in a row that others listen, while this pod has heard nothing. */
  #replies = 0;
  #isAsking = false;
  #isDeaf = false;

  constructor(options: DeafnessOptions) {
    this.#options = options;
  }

  get isDeaf(): boolean {
    return this.#isDeaf;
  }

  /** Called when the pod has heard itself. */
  heard(): void {
    this.unknown();
    this.#become(false);
  }

  /** Called when silence means nothing: for example, the pod reads nothing, or has no connection to publish over. */
  unknown(): void {
    this.#replies = 0;
  }

  /** Called when the pod has heard nothing since the last heartbeat. */
  async silent(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#replies += 1;
    const { othersListen, timing } = this.#options;
    const others = await othersListen().catch(() => undefined);
    this.#isAsking = false;
    if (others === false) this.#become(false);
    if (others !== true) this.unknown();
    // The count is 0 if the pod has heard something meanwhile.
    if (this.#replies * timing.beatMs >= timing.deafMs) this.#become(true);
  }

  #become(isDeaf: boolean): void {
    if (isDeaf === this.#isDeaf) return;
    this.#isDeaf = isDeaf;
    this.#options.changed(isDeaf);
  }
}
