import type { Redis } from 'ioredis';
import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../support/clock.ts';
import { keyOfAddress, type Address, type RedisAccess } from './access.ts';
import { createSentinelClient } from './redis-client.ts';

/** A connection to the master. */
interface Follower {
  /** Connects again, unless it is connected to one of these: Sentinels may have several names for one master. */
  moveTo(masters: readonly Address[]): void;
}

interface Named {
  readonly master: Address;
  /** Higher after each failover. */
  readonly epoch: number;
}

/** How often all Sentinels are asked: so soon, connections leave a master that hangs or is cut off from the Sentinels. */
const LOOK_MS = 500;

/** How long to wait for the other Sentinels once one has named the master. */
const OTHERS_MS = 200;

/**
 * The Sentinels of a master. All are asked, since a Sentinel that is cut off from the others names a former master. The
 * name with the highest epoch counts, earlier answers included, unless most Sentinels know only lower epochs, as after they
 * were set up anew.
 */
export class Sentinels {
  readonly #name: string;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #clients: readonly SentinelClient[];
  readonly #followers = new Set<Follower>();
  #told: string | undefined;
  #epoch = 0;
  #stopping = new AbortController();

  constructor(access: Extract<RedisAccess, { sentinels: unknown }>, log: Log, clock: Clock) {
    this.#name = access.master;
    this.#log = log;
    this.#clock = clock;
    this.#clients = access.sentinels.map((address) => new SentinelClient(address, access));
  }

  /** Begins to look after the master with the first follower. */
  follow(follower: Follower): void {
    if (this.#followers.size === 0) void this.#keepLooking();
    this.#followers.add(follower);
  }

  /** Stops with the last follower. */
  unfollow(follower: Follower): void {
    this.#followers.delete(follower);
    if (this.#followers.size > 0) return;
    this.#stopping.abort();
    for (const client of this.#clients) client.stop();
  }

  /** @throws what each of them says if none names a master */
  async master(): Promise<Address> {
    const [master] = await this.#masters();
    if (master === undefined) throw new Error(`expected a Sentinel for ${this.#name}, got none`);
    return master;
  }

  /** All names that the master has. @throws as `master` */
  async #masters(): Promise<readonly Address[]> {
    const named: Named[] = [];
    const refusals: string[] = [];
    const over = new AbortController();
    let isFirst: (() => void) | undefined;
    const first = new Promise<void>((resolve) => (isFirst = resolve));
    const asking = this.#clients.map(async (client) => {
      try {
        named.push(await client.master(this.#name));
        isFirst?.();
      } catch (thrown) {
        refusals.push(`${keyOfAddress(client.address)}: ${messageOf(thrown)}`);
      }
    });
    const late = first.then(() => this.#clock.sleep(OTHERS_MS, over.signal));
    await Promise.race([Promise.all(asking), late]);
    over.abort();
    if (named.length === 0) {
      throw new Error(`no Sentinel tells the address of ${this.#name}: ${refusals.toSorted().join('; ')}`);
    }
    const epoch = Math.max(...named.map((one) => one.epoch));
    if (epoch < this.#epoch && named.length <= this.#clients.length / 2) {
      throw new Error(
        `expected the master of ${this.#name} by failover ${this.#epoch} or later, got that by ${epoch} from ${named.length} of ${this.#clients.length} Sentinels`,
      );
    }
    this.#epoch = epoch;
    return named.filter((one) => one.epoch === epoch).map(({ master }) => master);
  }

  async #keepLooking(): Promise<void> {
    this.#stopping = new AbortController();
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#clock.sleep(LOOK_MS, signal);
      // Connections that are being made log why no Sentinel names the master.
      const masters = await this.#masters().catch(() => []);
      const [master] = masters;
      if (signal.aborted || master === undefined) continue;
      if (this.#told !== undefined && !masters.map(keyOfAddress).includes(this.#told)) {
        this.#log.info({ master: keyOfAddress(master) }, 'Sentinel has named another master');
        this.#told = undefined;
      }
      this.#told ??= keyOfAddress(master);
      for (const follower of this.#followers) follower.moveTo(masters);
    }
  }
}

/** A connection to one Sentinel, which is made with the first question. */
class SentinelClient {
  readonly address: Address;
  readonly #redis: Redis;
  /** Why there is no connection: ioredis says only that there is none. */
  #failure: string | undefined;

  constructor(address: Address, access: RedisAccess) {
    this.address = address;
    this.#redis = createSentinelClient(address, access);
    this.#redis.on('error', (error: Error) => (this.#failure = error.message));
    this.#redis.on('ready', () => (this.#failure = undefined));
  }

  stop(): void {
    this.#redis.disconnect();
  }

  /** @throws why this Sentinel does not name the master */
  async master(name: string): Promise<Named> {
    try {
      const [address, fields] = await Promise.all([
        this.#redis.call('SENTINEL', 'get-master-addr-by-name', name),
        this.#redis.call('SENTINEL', 'master', name),
      ]);
      const [host = '', port] = address as readonly string[];
      const list = fields as readonly string[];
      const at = list.indexOf('config-epoch');
      // A Sentinel that tells no epoch counts only if none of them tells one.
      const epoch = at === -1 ? 0 : Number(list[at + 1]);
      return { master: { host, port: Number(port) }, epoch };
    } catch (thrown) {
      const isSilent = thrown instanceof Error && thrown.message === 'Command timed out';
      // A silent connection may be half open.
      if (isSilent && this.#redis.status === 'ready') this.#redis.stream?.destroy();
      throw new Error(this.#failure ?? messageOf(thrown), { cause: thrown });
    }
  }
}
