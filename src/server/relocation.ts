import type { Log } from '../log.ts';
import type { AdmissionCheck, AdmissionFault } from './admission.ts';

interface RelocationOptions {
  readonly connections: { closeStaggered(overMs: number, signal: AbortSignal): Promise<void> };
  /** How long it takes to close all connections. */
  readonly overMs: number;
  readonly log: Log;
}

const DEAF = 'this pod hears nothing of Redis, though others do';

/** Sends clients to other pods while this one hears nothing of the bus. It is not ready then, and takes no new ones. */
export class Relocation implements AdmissionCheck {
  readonly #options: RelocationOptions;
  /** Undefined while the pod hears. Aborts when it hears again. */
  #moving: AbortController | undefined;

  constructor(options: RelocationOptions) {
    this.#options = options;
  }

  /** Why the pod must not get new connections; undefined if it may. */
  notReady(): string | undefined {
    return this.#moving && DEAF;
  }

  fault(): AdmissionFault | undefined {
    return this.#moving && { reason: 'deaf', message: DEAF };
  }

  /** See `Bus.onDeaf`. */
  heard(isDeaf: boolean): void {
    if (isDeaf === (this.#moving !== undefined)) return;
    const { connections, overMs, log } = this.#options;
    this.#moving?.abort();
    this.#moving = undefined;
    if (!isDeaf) {
      log.info('this pod hears Redis again, and takes clients');
      return;
    }
    log.error({ overMs }, 'this pod hears nothing of Redis, though others do; its clients are sent to them');
    this.#moving = new AbortController();
    void connections.closeStaggered(overMs, this.#moving.signal);
  }
}
