import type { Publisher } from '../../../src/events/publisher.ts';
import { EventTrace, type TracedSteps } from '../../../src/events/trace.ts';
import { RecentlyArrived } from '../../../src/explain/recently-arrived.ts';
import { RecentlyConsumed } from '../../../src/explain/recently-consumed.ts';
import { Watches } from '../../../src/explain/watches.ts';
import { systemTimers } from '../../../src/support/clock.ts';
import { Metrics } from '../../../src/metrics.ts';
import type { Case, Variant } from '../bench.ts';
import { auctionGraph, hubWith } from '../hub-parts.ts';
import { CHANNELS, roundOfEvents } from '../ingest-events.ts';
import { flatGraph, ingestWay } from '../ingest-parts.ts';
import { hubVariant, QUERY } from './hub.ts';

/** The topic of the events that `hub` sends. */
const TOPIC = 'bids';

/** The parts of a connection that a watch reads; this one is never slow. */
const WATCHED = { id: '1', openedAt: 0, viewer: {}, sendQueue: { slowSince: undefined, waitingBytes: 0 } };

/** The bytes for the last events, as with a heap limit of 512 MB. */
const RECENT_BYTES = 8 * 1024 * 1024;

/** Sends an event to one group of `size` subscribers, as `hub` has it. */
const inHub: readonly Case[] = [1, 1_000].map((size) => ({
  name: `one group of ${size.toLocaleString('en')}`,
  unit: 'event',
  units: 1,
  open: async () => {
    const graph = await auctionGraph();
    const subscribers = Array.from({ length: size }, () => ({ auction_id: 'auction-1' }));
    const arrivals = new RecentlyArrived(RECENT_BYTES, Date.now);
    const opened = (trace?: EventTrace, isWatched = false): Parameters<typeof hubVariant>[2] => {
      return async (take) => {
        const looked = trace && { trace, arrivals };
        const { channels, owners } = await hubWith(graph, QUERY, subscribers, take, looked);
        // A watch takes longest to find the last owner.
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
        await hubVariant('explain: the last events', subscribers, opened(new EventTrace())),
        await hubVariant('explain: watching a connection', subscribers, opened(new EventTrace(), true)),
      ],
    };
  },
}));

const takesAll: Publisher = {
  subscribed: (channels) => Promise.resolve(new Set(channels)),
  publish: () => Promise.resolve(),
};

/** Takes events from Kafka's bytes to a publisher that does nothing. */
const consumed: Case = {
  name: 'consumed',
  unit: 'event',
  units: CHANNELS.length,
  open: async () => {
    const { topics } = await flatGraph();
    const variant = (name: string, trace?: TracedSteps): Variant => {
      const way = ingestWay(takesAll, topics, new Metrics(), '', trace);
      const ready = (rounds: number) => {
        const events = Array.from({ length: rounds }, roundOfEvents);
        return async (): Promise<number> => {
          for (const round of events) await way(round);
          return rounds;
        };
      };
      return { name, sample: ready(1), ready };
    };
    return {
      variants: [
        variant('nothing tells steps'),
        variant('explain: the last events', new RecentlyConsumed(new EventTrace(), RECENT_BYTES, Date.now)),
      ],
    };
  },
};

export const cases: readonly Case[] = [...inHub, consumed];
