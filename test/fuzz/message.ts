import type { Random } from '../helpers/random.ts';
import type { DocumentGrammar } from './document.ts';

const BIDS =
  'subscription ($key: ID!, $least: Int) { bid_placed(auction_id: $key, min_amount: $least) { bid_id } }';

/** Messages of graphql-transport-ws, right or wrong, as text. */
export class MessageGrammar {
  readonly #random: Random;
  readonly #documents: DocumentGrammar;
  readonly #ids: string[] = [];

  constructor(random: Random, documents: DocumentGrammar) {
    this.#random = random;
    this.#documents = documents;
  }

  init(): string {
    return JSON.stringify({
      type: 'connection_init',
      payload: this.#random.chance(0.3) ? { bidderId: this.#random.pick(['7', 'x']) } : undefined,
    });
  }

  /** Returns a `subscribe` or a `complete`, mostly in the form of the protocol. */
  operation(): string {
    const random = this.#random;
    if (random.chance(0.3) && this.#ids.length > 0) {
      return JSON.stringify({ type: 'complete', id: random.pick(this.#ids) });
    }
    const id = this.#id();
    return JSON.stringify({ type: 'subscribe', id, payload: this.#documents.request() });
  }

  odd(): string {
    const random = this.#random;
    return random.pick<() => string>([
      () =>
        JSON.stringify({ type: 'connection_init', payload: random.pick([null, 7, [], { bidderId: '' }]) }),
      () => JSON.stringify({ type: 'ping', payload: { x: 'p'.repeat(random.between(0, 9_000)) } }),
      () => JSON.stringify({ type: 'pong', payload: random.pick([null, 'x', { a: 1 }]) }),
      () => JSON.stringify({ type: random.pick(['next', 'error', 'connection_ack', 'start', '', 7, null]) }),
      () =>
        JSON.stringify({ type: 'complete', id: random.pick(['unknown', '', 7, null, 'i'.repeat(50_000)]) }),
      () =>
        JSON.stringify({ type: 'subscribe', id: random.pick(['', 7, null]), payload: { query: '{ x }' } }),
      () =>
        JSON.stringify({
          type: 'subscribe',
          id: this.#id(),
          payload: random.pick([null, 7, {}, { query: 7 }, { query: '' }, { query: '{x}', extensions: 7 }]),
        }),
      () => random.pick(['', '{', 'null', '[]', '7', '"x"', '{"type":"ping"', '{"type":"ping"}garbage']),
      () => '['.repeat(random.between(1, 30_000)),
      () => `{"type":"ping","payload":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
    ])();
  }

  /** Subscriptions to new keys, each ended at once. The bus keeps the history of their channels. */
  storm(): string[] {
    return this.#many(() => this.#bids({ key: this.#random.between(0, 1e9) }, true));
  }

  /** Subscriptions that resume from the beginning of the history, or from an invalid cursor. */
  resumption(key: string): string[] {
    const cursor = this.#random.pick(['1.0.0', '1.zzz.1', '', 7, null]);
    return this.#many(() => this.#bids({ key }, this.#random.chance(0.5), { resume: cursor }));
  }

  /** Subscriptions to a channel with events, whose filters reject all of them. */
  rejection(key: string): string[] {
    return this.#many(() => this.#bids({ key, least: 1e9 + this.#random.between(0, 1e9) }, false));
  }

  #many(messages: () => readonly string[]): string[] {
    return Array.from({ length: this.#random.between(20, 400) }, messages).flat();
  }

  #bids(variables: Readonly<Record<string, unknown>>, ends: boolean, extensions?: object): string[] {
    const id = this.#id();
    const payload = { query: BIDS, variables, extensions };
    const complete = JSON.stringify({ type: 'complete', id });
    return [JSON.stringify({ type: 'subscribe', id, payload }), ...(ends ? [complete] : [])];
  }

  /** Returns a new id, or sometimes one that is in use. */
  #id(): string {
    const random = this.#random;
    if (random.chance(0.02) && this.#ids.length > 0) return random.pick(this.#ids);
    const id = random.chance(0.02) ? 'i'.repeat(random.between(1_000, 40_000)) : String(this.#ids.length);
    this.#ids.push(id);
    return id;
  }
}
