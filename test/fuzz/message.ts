import type { Random } from '../helpers/random.ts';
import type { DocumentGrammar } from './document.ts';

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

  /** Mostly `subscribe` and `complete`, as clients of the protocol have them. */
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

  /** Subscriptions to ever new keys, each ended at once. */
  storm(): string[] {
    return Array.from({ length: this.#random.between(20, 400) }, () => {
      const id = this.#id();
      const key = this.#random.between(0, 1e9);
      const query = 'subscription ($key: ID!) { bid_placed(auction_id: $key) { bid_id } }';
      return [
        JSON.stringify({ type: 'subscribe', id, payload: { query, variables: { key } } }),
        JSON.stringify({ type: 'complete', id }),
      ];
    }).flat();
  }

  /** Sometimes one that is in use. */
  #id(): string {
    const random = this.#random;
    if (random.chance(0.02) && this.#ids.length > 0) return random.pick(this.#ids);
    const id = random.chance(0.02) ? 'i'.repeat(random.between(1_000, 40_000)) : String(this.#ids.length);
    this.#ids.push(id);
    return id;
  }
}
