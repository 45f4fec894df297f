import { SimulatedRedis } from '../redis/server.ts';
import type { VirtualTime } from '../time/virtual-time.ts';
import type { Repairs } from './repairs.ts';

/** The lag of a replica that keeps up, in ms. */
const LAG_MS = 2;

/** A master and its replica, and the address that leads to the master. */
export class RedisPair {
  readonly servers: readonly [SimulatedRedis, SimulatedRedis];
  master: SimulatedRedis;
  readonly #repairs: Repairs;

  /** @param number of the pair */
  constructor(time: VirtualTime, repairs: Repairs, number = 0) {
    this.#repairs = repairs;
    this.servers = [
      new SimulatedRedis(`redis${2 * number + 1}`, time),
      new SimulatedRedis(`redis${2 * number + 2}`, time),
    ];
    [this.master] = this.servers;
    this.master.replicateTo(this.replica, LAG_MS);
  }

  get replica(): SimulatedRedis {
    const [one, other] = this.servers;
    return this.master === one ? other : one;
  }

  /** Ends the master, and starts it again after `forMs`. */
  crash(forMs: number, keepsData: boolean, silent: boolean): void {
    const { master } = this;
    if (!master.alive) return;
    master.crash({ silent });
    this.#repairs.after(forMs, () => {
      master.restart(keepsData);
      if (this.master === master) this.#resync();
    });
  }

  /** Stops the master for `forMs`. */
  freeze(forMs: number): void {
    const { master } = this;
    if (!master.alive) return;
    master.freeze();
    this.#repairs.after(forMs, () => master.thaw());
  }

  /**
   * Makes the replica the master, without the writes that were still on their way to it.
   *
   * @returns whether there was a replica
   */
  failOver(options: {
    readonly forMs: number;
    readonly oldMaster: 'alive' | 'dead';
    readonly kicksClients: boolean;
  }): boolean {
    const old = this.master;
    const { replica } = this;
    if (!replica.alive || replica.role !== 'replica' || !replica.isLinked) return false;
    replica.promote();
    this.master = replica;
    if (options.oldMaster === 'dead' && old.alive) old.crash();
    this.#repairs.after(options.forMs, () => {
      if (this.master !== replica) return;
      if (!old.alive) old.restart(false);
      this.#resync();
      if (!options.kicksClients) return;
      old.killOthers('normal');
      old.killOthers('pubsub');
    });
    return true;
  }

  set lagMs(lagMs: number) {
    this.master.replicationLagMs = lagMs;
  }

  #resync(): void {
    if (this.master.alive && this.replica.alive) this.master.replicateTo(this.replica, LAG_MS);
  }
}
