import { connect as connectPlain, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { AbstractConnector, type RedisOptions } from 'ioredis';
import type { Address } from './access.ts';

type Connector = NonNullable<RedisOptions['Connector']>;

/** Tells where the master is. */
interface Masters {
  /** @throws if it is not known at present */
  master(): Promise<Address>;
}

/** Between two attempts to learn where the master is. */
const AGAIN_MS = 400;

/** The message with which ioredis rejects an attempt that was given up. */
const CLOSED = 'Connection is closed.';

/**
 * Connects ioredis to the master, in place of its own way with Sentinels: that takes the master which the first Sentinel
 * names, and hides why a connection to a Sentinel fails.
 *
 * @param connecting called with the address of each attempt
 */
export function masterConnector(masters: Masters, connecting: (address: Address) => void): Connector {
  return class MasterConnector extends AbstractConnector {
    readonly #options: RedisOptions;

    constructor(options: unknown) {
      const known = options as RedisOptions & { disconnectTimeout: number };
      super(known.disconnectTimeout);
      // Keeps this very object: its passwords and certificates are replaced later.
      this.#options = known;
    }

    async connect(emit: (type: string, error: Error) => void): Promise<Socket> {
      this.connecting = true;
      const address = await this.#master(emit);
      connecting(address);
      const tls = this.#options.tls as ConnectionOptions | undefined;
      const stream = tls === undefined ? connectPlain(address) : connectTls({ ...tls, ...address });
      stream.once('error', (error) => (this.firstError = error));
      this.stream = stream;
      return stream;
    }

    /** Ends only when the master is known, or the client is stopped: after an error, ioredis would not try again. */
    async #master(emit: (type: string, error: Error) => void): Promise<Address> {
      while (this.connecting) {
        try {
          const address = await masters.master();
          if (this.connecting) return address;
        } catch (thrown) {
          if (this.connecting && thrown instanceof Error) emit('error', thrown);
          await sleep(AGAIN_MS);
        }
      }
      throw new Error(CLOSED);
    }
  };
}
