import { setTimeout as delay } from 'node:timers/promises';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { WebSocket } from 'ws';
import { once } from 'node:events';
import { quantile } from '../helpers/numbers.ts';

/** The auction whose bids the honest client gets. */
export const AUCTION = 'witness';

const EVENT_MS = 20;

/** The number of events for clients that do not read, between two events of the witness. */
const FLOOD = 5;

/** An honest client with a steady stream of events. It must get each event once, in order. */
export class Witness {
  readonly #gateway: GatewayProcess;
  readonly #sentAt: number[] = [];
  readonly #faults: string[] = [];
  readonly #delays: number[] = [];
  #received = 0;
  #webSocket: WebSocket | undefined;

  constructor(gateway: GatewayProcess) {
    this.#gateway = gateway;
  }

  /** Resolves when the client is subscribed. */
  async start(): Promise<void> {
    const webSocket = new WebSocket(this.#gateway.graphqlUrl, 'graphql-transport-ws');
    this.#webSocket = webSocket;
    webSocket.on('message', (data: Buffer) => this.#take(data.toString()));
    webSocket.on('close', (code) => this.#faults.push(`the honest client was closed with ${code}`));
    webSocket.on('error', (error) => this.#faults.push(`the honest client failed: ${error.message}`));
    await once(webSocket, 'open');
    webSocket.send(JSON.stringify({ type: 'connection_init' }));
    // The server would close a client that does not wait for the acknowledgement with 4401.
    await once(webSocket, 'message');
    const query = `subscription { bid_placed(auction_id: "${AUCTION}") { bid_id is_mine amount { formatted } } }`;
    webSocket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));
    await this.#gateway.untilMetric('sluice_subscribers', 1);
  }

  /** Sends events until the signal aborts, then waits for the last ones. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const n = this.#sentAt.length;
      this.#sentAt.push(performance.now());
      await this.#gateway.postEvent('bids', bid(n));
      for (let sent = 0; sent < FLOOD; sent += 1) await this.#gateway.postEvent('property-updates', PROPERTY);
      await delay(EVENT_MS, undefined, { signal }).catch(() => undefined);
    }
    for (let waited = 0; waited < 2_400 && this.#received < this.#sentAt.length; waited += 1) await delay(50);
    this.#webSocket?.removeAllListeners('close').close();
  }

  /** The faults of the events, in words. */
  get faults(): readonly string[] {
    const missing = this.#sentAt.length - this.#received;
    return missing === 0 ? this.#faults : [...this.#faults, `${missing} events have not come`];
  }

  get count(): number {
    return this.#received;
  }

  /** Returns a quantile of the delays from sending an event to its arrival, in ms. */
  delay(share: number): number {
    return quantile(this.#delays, share);
  }

  #take(text: string): void {
    const { type, payload } = JSON.parse(text) as {
      type: string;
      payload?: { data?: { bid_placed: { bid_id: string } } };
    };
    if (type === 'connection_ack') return;
    const n = Number(payload?.data?.bid_placed.bid_id);
    if (n !== this.#received)
      this.#faults.push(`expected event ${this.#received}, got ${text.slice(0, 200)}`);
    this.#received = n + 1;
    this.#delays.push(performance.now() - (this.#sentAt[n] ?? 0));
  }
}

/** Returns a bid with each field that must not be null: the gateway logs a missing one as an error. */
function bid(n: number): object {
  return {
    bidId: String(n),
    auctionId: AUCTION,
    propertyId: '1',
    amount: { value: n, currency: 'EUR' },
    bidder: { bidderId: '1', displayName: 'b', paddleNumber: 1 },
    placedAt: '2026-01-01T00:00:00Z',
    isProxyBid: false,
  };
}

/** Has each field that must not be null, as {@link bid} does. */
const PROPERTY = {
  propertyId: '1',
  updatedAt: '2026-01-01T00:00:00Z',
  changedFields: ['headline'],
  headline: 'h'.repeat(2_000),
  propertyType: 'HOUSE',
  address: { line1: 'a', city: 'b', postalCode: 'c', countryCode: 'd' },
  askingPrice: { value: 1, currency: 'EUR' },
  bedrooms: 1,
  bathrooms: 1,
  livingAreaM2: 1,
  photos: [],
};
