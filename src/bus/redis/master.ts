import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../support/clock.ts';
import {
  TransactionRefused,
  valueOf,
  type Command,
  type CommandConnection,
  type Reply,
} from './connection.ts';
import type { LinkMetrics } from './link-metrics.ts';
import { isNotPermitted, isReadOnly } from './refusals.ts';
import { INSPECTION, inspectedServer, type Server } from './server.ts';
import type { BusTiming } from './timing.ts';

interface MasterOptions {
  readonly connection: CommandConnection;
  readonly metrics: LinkMetrics;
  readonly log: Log;
  readonly clock: Clock;
  readonly timing: BusTiming;
  /** Called for a server that this pod has not published to over this connection. If it rejects, the pod looks again. */
  readonly tryOut: () => Promise<void>;
  /** Called for a server that may lack what this pod published last. If it rejects, the pod looks again. */
  readonly mayHaveLost: () => Promise<void>;
  /** Called when the server is found to be a replica. */
  readonly foundReplica: () => void;
}

/** Why a bus that has never been connected can't be used. */
export const NOT_REACHED = 'Redis has not been reached yet';

const NOT_MASTER = 'Redis is not a master';

/** Between two looks at a server that is no master, or does not answer as it should. */
const LOOK_AGAIN_MS = 500;

/**
 * The server that this pod publishes to, and whether it may publish now.
 *
 *     connected ──► is it a master? have all messages survived that this pod has published? ──► wait ──► publish
 *         ▲                                                                                                │
 *         └──────────────────────────────────── connection lost, or no master any more ◄───────────────────┘
 */
export class Master {
  readonly #options: MasterOptions;
  /** Why nothing can be published; undefined if it can. See `#become`. */
  #unusable: string | undefined;
  /** Whether the connection is to a master. */
  #isMaster = false;
  /** Whether Redis permits the pod to ask which server it is. */
  #inspects = true;
  /** The replication id of the server that is known to hold what this pod has published. */
  #replicationId: string | undefined;
  #wasReached = false;
  /** Aborts when the connection is lost. */
  #lost = new AbortController();

  constructor(options: MasterOptions) {
    this.#options = options;
    this.#become(NOT_REACHED);
  }

  start(onUsable: () => void): void {
    this.#options.connection.start({
      onReady: () => {
        this.#lost = new AbortController();
        void this.#begin(this.#lost.signal).then((usable) => usable && onUsable());
      },
      onLost: () => this.#onLost(),
    });
  }

  stop(): void {
    this.#become('the bus is stopped');
    this.#lost.abort();
    this.#options.connection.stop();
  }

  get wasReached(): boolean {
    return this.#wasReached;
  }

  /** Whether there is a connection to a master, even if nothing may be published over it yet. */
  get isConnected(): boolean {
    return this.#isMaster;
  }

  get isUsable(): boolean {
    return this.#unusable === undefined;
  }

  /** @throws if nothing can be published */
  expectUsable(): void {
    if (this.#unusable !== undefined) throw new Error(this.#unusable);
  }

  /** @throws what `work` rejects with; the connection is given up if that shows that the server is no master any more */
  async run<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (thrown) {
      if (thrown instanceof TransactionRefused && isReadOnly(thrown.reason)) this.#leaveReplica();
      throw thrown;
    }
  }

  /** The command whose reply `inspected` takes; none if Redis does not permit it. */
  get inspection(): readonly Command[] {
    return this.#inspects ? [INSPECTION] : [];
  }

  /**
   * @param reply to `inspection`
   * @returns the server's replication id; undefined where Redis does not tell it
   * @throws if the server is no master, or does not tell just now
   */
  async inspected(reply: Reply | undefined): Promise<string | undefined> {
    const server = this.#inspects ? this.#serverOf(reply) : undefined;
    if (server?.role === 'replica') {
      this.#leaveReplica();
      throw new Error(NOT_MASTER);
    }
    const replicationId = server?.replicationId;
    if (replicationId !== undefined) await this.#expectSurvived(replicationId);
    return replicationId;
  }

  #become(unusable: string | undefined): void {
    this.#unusable = unusable;
    this.#options.metrics.busConnected.set({ connection: 'publishing' }, unusable === undefined ? 1 : 0);
  }

  #onLost(): void {
    this.#isMaster = false;
    this.#become('the connection to Redis is lost');
    this.#lost.abort();
  }

  /** @returns whether publishing may begin; false if the connection was lost before that */
  async #begin(lost: AbortSignal): Promise<boolean> {
    const { clock, log, timing } = this.#options;
    const isFirst = !this.#wasReached;
    this.#become('the connection to Redis is being looked at');
    let told: string | undefined;
    while (!lost.aborted) {
      try {
        if (await this.#isReadyToPublish()) break;
      } catch (thrown) {
        const reason = messageOf(thrown);
        if (!lost.aborted && reason !== told) {
          told = reason;
          this.#become(`Redis could not be looked at: ${reason}`);
          log.warn({ reason }, 'Redis could not be looked at; looking again until it can');
        }
      }
      await clock.sleep(LOOK_AGAIN_MS, lost);
    }
    if (!isFirst && !lost.aborted) {
      this.#become('other pods are given time to listen again');
      await clock.sleep(timing.settleMs, lost);
    }
    // A heartbeat may have found out meanwhile that the server is no master any more.
    if (lost.aborted || !this.#isMaster) return false;
    this.#wasReached = true;
    this.#become(undefined);
    return true;
  }

  /** @throws if Redis can't be asked just now */
  async #isReadyToPublish(): Promise<boolean> {
    const [inspection] = await this.#options.connection.send([INSPECTION]);
    const server = this.#serverOf(inspection);
    if (server?.role === 'replica') {
      this.#leaveReplica();
      return false;
    }
    await this.#options.tryOut();
    await this.#expectSurvived(server?.replicationId);
    this.#isMaster = true;
    return true;
  }

  /**
   * @param reply to the inspection
   * @returns undefined if Redis does not permit the question; it is not asked again over this connection
   * @throws if Redis does not tell just now
   */
  #serverOf(reply: Reply | undefined): Server | undefined {
    this.#inspects = reply === undefined || !('error' in reply) || !isNotPermitted(reply.error.message);
    return this.#inspects ? inspectedServer(valueOf(reply)) : undefined;
  }

  /** Another server may lack what this pod published last. So may the same server after a start or a promotion. */
  async #expectSurvived(replicationId: string | undefined): Promise<void> {
    if (replicationId !== undefined && replicationId === this.#replicationId) return;
    await this.#options.mayHaveLost();
    this.#replicationId = replicationId;
  }

  /** A failover leaves the old master as a replica: what is published there reaches only its own listeners. */
  #leaveReplica(): void {
    const { connection, foundReplica, metrics, log, clock } = this.#options;
    if (this.#unusable === NOT_MASTER) return;
    this.#isMaster = false;
    foundReplica();
    this.#become(NOT_MASTER);
    metrics.redisNotMaster.inc();
    log.warn('Redis is not a master; connecting again until it is');
    const lost = this.#lost.signal;
    void clock.sleep(LOOK_AGAIN_MS, lost).then(() => lost.aborted || connection.reconnect());
  }
}
