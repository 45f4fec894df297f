import { execute, parse } from 'graphql';
import type { LoadedGraph } from '../../../src/graph/loader/load-graph.ts';
import type { Case, Variant } from '../bench.ts';
import { auctionGraph, hubWith } from '../hub-parts.ts';

export const QUERY = `
  subscription Bids($auction_id: ID!, $min_amount: Int) {
    bid_placed(auction_id: $auction_id, min_amount: $min_amount) {
      bid_id placed_at is_proxy_bid
      amount { value currency formatted }
      raise { value formatted }
      bidder { bidder_id paddle_number display_name }
    }
  }`;

const BID = {
  bid_id: 'bid-4711',
  auction_id: 'auction-1',
  property_id: 'property-3',
  amount: { value: 985_000, currency: 'EUR' },
  raise: { value: 15_000, currency: 'EUR' },
  bidder: { bidder_id: 'bidder-2', paddle_number: 117, display_name: 'L. Brandt' },
  placed_at: '2026-11-21T10:00:00.000Z',
  is_proxy_bid: false,
};

type Variables = Readonly<Record<string, unknown>> & {
  readonly auction_id: string;
  readonly min_amount?: number;
};

/** The variables of each subscriber: all the same; different ones on one channel; a channel for each. */
const LAYOUTS: Readonly<Record<string, (subscriber: number) => Variables>> = {
  'one group of': () => ({ auction_id: 'auction-1' }),
  'one channel, groups of one:': (subscriber) => ({ auction_id: 'auction-1', min_amount: subscriber }),
  'a channel each, groups of one:': (subscriber) => ({ auction_id: `auction-${subscriber}` }),
};

const SIZES = [1, 100, 1_000, 10_000];

/** Takes the results of all subscribers, and knows when all results have come. */
class Receivers {
  bytes = 0;
  kept: string[] | undefined;
  #awaited = 0;
  #complete: (() => void) | undefined;

  take(json: Buffer | string, subscriber: number): void {
    this.bytes += Buffer.byteLength(json);
    if (this.kept !== undefined) this.kept[subscriber] = `${this.kept[subscriber] ?? ''}${String(json)}\n`;
    this.#awaited -= 1;
    if (this.#awaited === 0) this.#complete?.();
  }

  /** Resolves when `count` results have come after `send`. */
  async all(count: number, send: () => void): Promise<void> {
    this.#awaited += count;
    send();
    if (this.#awaited > 0) await new Promise<void>((resolve) => (this.#complete = resolve));
    this.#complete = undefined;
  }
}

/** Hands a message to the listeners of one channel. */
type Carry = (message: string) => void;

/** @param rest further fields of the messages */
export async function hubVariant(
  name: string,
  subscribers: readonly Variables[],
  open: (take: (json: Buffer | string, subscriber: number) => void) => Promise<readonly Carry[]>,
  rest: object = {},
): Promise<Variant> {
  const receivers = new Receivers();
  const channels = await open((json, subscriber) => receivers.take(json, subscriber));
  let offset = 0;
  const messages = (events: number): string[] =>
    Array.from({ length: events }, () =>
      JSON.stringify({
        v: 1,
        t: 'bids',
        p: 0,
        o: ++offset,
        ts: 1,
        in: 1,
        key: BID.auction_id,
        event: BID,
        ...rest,
      }),
    );
  const send = async (events: readonly string[]): Promise<number> => {
    receivers.bytes = 0;
    for (const event of events) {
      await receivers.all(subscribers.length, () => {
        for (const carry of channels) carry(event);
      });
    }
    return receivers.bytes;
  };
  return {
    name,
    sample: async () => {
      receivers.kept = [];
      await send(messages(2));
      const { kept } = receivers;
      receivers.kept = undefined;
      return kept;
    },
    ready: (operations) => {
      const events = messages(operations);
      return () => send(events);
    },
  };
}

/** Subscriptions as in the READMEs: each subscriber's iterator filters, executes and serialises for itself. */
function stock({ schema }: LoadedGraph, subscribers: readonly Variables[]): Parameters<typeof hubVariant>[2] {
  const document = parse(QUERY);
  return (take) => {
    const channels = new Map<string, [number, Variables][]>();
    for (const [index, asked] of subscribers.entries()) {
      const listeners = channels.get(asked.auction_id) ?? [];
      listeners.push([index, asked]);
      channels.set(asked.auction_id, listeners);
    }
    const carries = [...channels.values()].map((listeners) => (message: string) => {
      const { event } = JSON.parse(message) as { event: typeof BID };
      for (const [index, variableValues] of listeners) {
        const { min_amount: least = 0 } = variableValues;
        if (event.amount.value < least) continue;
        const result = execute({ schema, document, rootValue: event, contextValue: {}, variableValues });
        take(JSON.stringify(result), index);
      }
    });
    return Promise.resolve(carries);
  };
}

/** Sends one event to `size` subscribers, from the message on a channel to JSON for each of them. */
export const cases: readonly Case[] = SIZES.flatMap((size) =>
  // With one subscriber, all layouts are the same.
  Object.entries(LAYOUTS)
    .slice(0, size === 1 ? 1 : undefined)
    .map(([layout, variablesOf]) => ({
      name: `${layout} ${size.toLocaleString('en')}`,
      unit: 'delivery',
      units: size,
      open: async () => {
        const graph = await auctionGraph();
        const subscribers = Array.from({ length: size }, (_, index) => variablesOf(index));
        return {
          variants: [
            await hubVariant(
              'graphql-js and JSON.stringify for each',
              subscribers,
              stock(graph, subscribers),
            ),
            await hubVariant('Hub', subscribers, async (take) => {
              const { channels } = await hubWith(graph, QUERY, subscribers, take);
              return [...channels.values()];
            }),
          ],
        };
      },
    })),
);
