import { EventTrace } from '../../../src/events/trace.ts';
import { Watches } from '../../../src/explain/watches.ts';
import { systemTimers } from '../../../src/support/clock.ts';
import type { Case } from '../bench.ts';
import { auctionGraph, hubWith } from '../hub-parts.ts';
import { hubVariant, QUERY } from './hub.ts';

/** Of the events that `hub` sends. */
const TOPIC = 'bids';

/** What a watch looks at of a connection, which is never slow. */
const WATCHED = { id: '1', viewer: {}, sendQueue: { slowSince: undefined, waitingBytes: 0 } };

/** One event to one group of so many, as `hub` has it. */
export const cases: readonly Case[] = [1, 1_000].map((size) => ({
  name: `one group of ${size.toLocaleString('en')}`,
  unit: 'event',
  units: 1,
  open: async () => {
    const graph = await auctionGraph();
    const subscribers = Array.from({ length: size }, () => ({ auction_id: 'auction-1' }));
    const opened = (trace?: EventTrace, isWatched = false): Parameters<typeof hubVariant>[2] => {
      return async (take) => {
        const { channels, owners } = await hubWith(graph, QUERY, subscribers, take, { trace });
        // The one that is looked for longest.
        const last = Object.assign(owners.at(-1) ?? {}, WATCHED);
        if (isWatched && trace !== undefined) {
          new Watches({ trace, timers: systemTimers, now: Date.now }).of(last, TOPIC);
        }
        return [...channels.values()];
      };
    };
    return {
      variants: [
        await hubVariant('nothing tells steps', subscribers, opened()),
        await hubVariant('explain: off', subscribers, opened(new EventTrace())),
        await hubVariant('explain: watching a connection', subscribers, opened(new EventTrace(), true)),
      ],
    };
  },
}));
