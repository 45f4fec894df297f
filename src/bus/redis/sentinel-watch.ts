import { lookup } from 'node:dns/promises';
import type { Redis } from 'ioredis';
import type { Log } from '../../log.ts';
import type { Address, RedisAccess } from './access.ts';
import { createSentinelClient } from './redis-client.ts';

/** A connection to the master. */
interface Follower {
  /** Connects again, unless it is connected to this server. Called for each Sentinel: they learn of a master one by one. */
  moveTo(master: Address): void;
}

const CHANNEL = '+switch-master';

/**
 * Listens to what each Sentinel announces. Without it a connection to a master that hangs, and is replaced, is given up
 * only after seconds of silence.
 */
export class SentinelWatch {
  readonly #master: string;
  readonly #log: Log;
  readonly #clients: readonly Redis[];
  readonly #followers = new Set<Follower>();
  /** The last announcement. */
  #announced = '';

  constructor(access: Extract<RedisAccess, { sentinels: unknown }>, log: Log) {
    this.#master = access.master;
    this.#log = log;
    this.#clients = access.sentinels.map((sentinel) => createSentinelClient(sentinel, access));
  }

  /** Begins to listen with the first follower. */
  follow(follower: Follower): void {
    if (this.#followers.size === 0) this.#start();
    this.#followers.add(follower);
  }

  /** Ends with the last one. */
  unfollow(follower: Follower): void {
    this.#followers.delete(follower);
    if (this.#followers.size > 0) return;
    for (const client of this.#clients) client.disconnect();
  }

  #start(): void {
    for (const client of this.#clients) {
      // The connections that ask Sentinel for the master log that it is away.
      client.on('error', () => undefined);
      client.on('message', (_channel, text: string) => void this.#hear(text));
      client.subscribe(CHANNEL).catch(() => undefined);
    }
  }

  /** @param text `<name> <old host> <old port> <new host> <new port>` */
  async #hear(text: string): Promise<void> {
    const [name, , , host = '', port] = text.split(' ');
    if (name !== this.#master) return;
    if (text !== this.#announced) {
      this.#log.info({ master: `${host}:${port}` }, 'Sentinel has named another master');
    }
    this.#announced = text;
    // Where Sentinel announces host names, connections tell addresses all the same.
    const { address } = await lookup(host).catch(() => ({ address: host }));
    for (const follower of this.#followers) follower.moveTo({ host: address, port: Number(port) });
  }
}
