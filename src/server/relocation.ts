import type { Config } from '../config/settings.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../support/clock.ts';
import type { AdmissionCheck, AdmissionFault } from './admission.ts';

interface RelocationOptions {
  readonly settings: Pick<Config, 'DRAIN_DELAY_SECONDS' | 'DRAIN_SECONDS'>;
  readonly connections: { closeStaggered(overMs: number, signal: AbortSignal): Promise<void> };
  readonly clock: Clock;
  readonly log: Log;
}

const DEAF = 'this pod hears nothing of Redis, though others do';

/**
 * Sends clients to other pods while this one hears nothing of the bus: the pod is not ready. As in a drain, once balancers
 * know, it refuses new sockets and closes its own. It keeps running, since it may hear again.
 */
export class Relocation implements AdmissionCheck {
  readonly #options: RelocationOptions;
  /** Undefined while the pod hears. Aborts when it hears again. */
  #moving: AbortController | undefined;
  #refuses = false;

  constructor(options: RelocationOptions) {
    this.#options = options;
  }

  /** Why the pod must not get new connections; undefined if it may. */
  notReady(): string | undefined {
    return this.#moving && DEAF;
  }

  fault(): AdmissionFault | undefined {
    return this.#refuses ? { reason: 'deaf', message: DEAF } : undefined;
  }

  /** See `Bus.onDeaf`. */
  heard(isDeaf: boolean): void {
    if (isDeaf === (this.#moving !== undefined)) return;
    const { log } = this.#options;
    this.#moving?.abort();
    this.#moving = undefined;
    this.#refuses = false;
    if (!isDeaf) {
      log.info('this pod hears Redis again, and takes clients');
      return;
    }
    log.error('this pod hears nothing of Redis, though others do; its clients are sent to them');
    this.#moving = new AbortController();
    void this.#move(this.#moving.signal);
  }

  async #move(signal: AbortSignal): Promise<void> {
    const { settings, connections, clock } = this.#options;
    await clock.sleep(settings.DRAIN_DELAY_SECONDS * 1_000, signal);
    if (signal.aborted) return;
    this.#refuses = true;
    await connections.closeStaggered(settings.DRAIN_SECONDS * 1_000, signal);
  }
}
