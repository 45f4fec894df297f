import type { Config } from '../config.ts';
import { messageOf } from '../errors.ts';
import type { Clock } from '../support/clock.ts';
import type { Log } from '../log.ts';

interface DrainOptions {
  readonly settings: Pick<Config, 'DRAIN_DELAY_SECONDS' | 'DRAIN_SECONDS'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly publicServer: { refuseUpgrades(): void; stopListening(): void };
  readonly sockets: { closeStaggered(overMs: number): Promise<void> };
  /** Lets other pods consume in this one's place; undefined if none would. */
  readonly leaveGroup: (() => Promise<void>) | undefined;
}

/**
 * How a pod gives up its connections without anybody noticing more than a reconnection:
 *
 *   not ready ──delay──► no new sockets ──► leave the consumer group ─┐
 *                              └──────────► close sockets in waves ───┴──► stop
 *
 * While the waves run, events go on arriving from the pods that consume now. Without such pods, consuming goes on until
 * the sockets are gone.
 */
export class Drain {
  readonly #options: DrainOptions;
  #phase: 'draining' | 'stopping' | undefined;

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  /** Why the pod should not get connections. */
  notReady(): string | undefined {
    return this.#phase;
  }

  /** The pod stops now, drained or not. */
  stopping(): void {
    this.#phase = 'stopping';
  }

  /**
   * Resolves when every socket has been asked to close and the group has been left.
   *
   * @param alone other processes listen on the same port: they take what is new from now on, so there is no delay
   */
  async run({ alone = false } = {}): Promise<void> {
    const { settings, clock, log, publicServer, sockets, leaveGroup } = this.#options;
    const delayMs = alone ? 0 : settings.DRAIN_DELAY_SECONDS * 1000;
    const overMs = settings.DRAIN_SECONDS * 1000;
    this.#phase = 'draining';
    log.info({ delayMs, overMs }, 'draining');
    if (alone) publicServer.stopListening();
    if (delayMs > 0) await clock.sleep(delayMs, new AbortController().signal);
    publicServer.refuseUpgrades();
    // Beside each other: a Kafka that is away would use up the time that the sockets need.
    const left = leaveGroup?.().catch((error: unknown) => {
      log.error({ error: messageOf(error) }, 'the consumer group could not be left');
    });
    await sockets.closeStaggered(overMs);
    await left;
    log.info('drained');
  }
}
