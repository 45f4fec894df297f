import type { Config } from '../config/settings.ts';
import { messageOf } from '../errors.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../log.ts';

interface DrainOptions {
  readonly settings: Pick<Config, 'DRAIN_DELAY_SECONDS' | 'DRAIN_SECONDS'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly publicServer: { refuseUpgrades(): void; stopListening(): void };
  readonly connections: { closeStaggered(overMs: number): Promise<void> };
  /** Leaves the consumer group, so that other pods consume this one's partitions; undefined if no other pods do. */
  readonly leaveGroup: (() => Promise<void>) | undefined;
}

/**
 * Ends a pod's connections before the pod stops. Its clients only see a reconnection:
 *
 *   not ready ──delay──► no new sockets ──► leave the consumer group ─┐
 *                              └──────────► close sockets staggered ──┴──► stop
 *
 * Until its socket is closed, a client still gets events, which other pods now consume. A pod with its own consumer group
 * consumes until all sockets are closed.
 */
export class Drain {
  readonly #options: DrainOptions;
  #phase: 'draining' | 'stopping' | undefined;

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  /** Why the pod must not get new connections; undefined if it may. */
  notReady(): string | undefined {
    return this.#phase;
  }

  /** To be called when the pod stops, whether it has been drained or not. */
  stopping(): void {
    this.#phase = 'stopping';
  }

  /**
   * Resolves when a close has been sent on every socket and the consumer group has been left.
   *
   * @param alone true for one worker of several: the others take new connections at once, so there is no delay
   */
  async run({ alone = false } = {}): Promise<void> {
    const { settings, clock, log, publicServer, connections, leaveGroup } = this.#options;
    const delayMs = alone ? 0 : settings.DRAIN_DELAY_SECONDS * 1000;
    const overMs = settings.DRAIN_SECONDS * 1000;
    this.#phase = 'draining';
    log.info({ delayMs, overMs }, 'draining');
    if (alone) publicServer.stopListening();
    if (delayMs > 0) await clock.sleep(delayMs, new AbortController().signal);
    publicServer.refuseUpgrades();
    // Both at the same time: if Kafka is unreachable, leaving the group takes longer than the sockets may wait.
    const left = leaveGroup?.().catch((error: unknown) => {
      log.error({ error: messageOf(error) }, 'the consumer group could not be left');
    });
    await connections.closeStaggered(overMs);
    await left;
    log.info('drained');
  }
}
