import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'graphql-ws';
import { eventually } from './eventually.ts';
import { graphqlClient, Received } from './graphql-client.ts';

/** Shorter than the default wait of clients, so that the number of clients away shows how pods close connections. */
const RETRY_MS = [100, 500] as const;

const retryWait = (): Promise<void> => delay(randomInt(...RETRY_MS));

/** Clients that subscribe to `item` at the same gateways, with a count of clients without a connection. */
export class Crowd {
  readonly received: Received<{ item: { n: number } }>[];
  readonly #away = new Set<Client>();
  #mostAway = 0;

  constructor(t: TestContext, size: number, url: string) {
    this.received = Array.from({ length: size }, () => {
      const client = graphqlClient(t, url, { retryAttempts: 200, retryWait });
      client.on('connected', () => this.#away.delete(client));
      client.on('closed', () => this.#left(client));
      return new Received(client, 'subscription { item { n } }');
    });
  }

  #left(client: Client): void {
    this.#away.add(client);
    this.#mostAway = Math.max(this.#mostAway, this.#away.size);
  }

  /** @returns the highest number of clients without a connection at one time since the last call */
  takeMostAway(): number {
    const most = this.#mostAway;
    this.#mostAway = this.#away.size;
    return most;
  }

  get away(): number {
    return this.#away.size;
  }

  /** Waits until each client has got this event or a later one. */
  async untilAllReceive(n: number): Promise<void> {
    await eventually(() => {
      const behind = this.received.filter(({ results }) => (results.at(-1)?.data?.item.n ?? -1) < n);
      assert.equal(behind.length, 0, `${behind.length} clients have not got event ${n}`);
    });
  }
}
