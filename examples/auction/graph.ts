import { defineGraph } from 'sluice';
import { startBackends } from './backends.ts';
import { loaders, primers, type Types, type Viewer } from './context.ts';

type Address = { line1: string; line2?: string; city: string; postal_code: string; country_code: string };
type Price = { value: number; currency: string };
interface Bid {
  bidder: { bidder_id: string };
}
interface PropertyUpdate {
  agent?: { agent_id: string } | null;
}

/** Without AUCTION_BACKEND_URL the example starts back ends of its own, so that it runs alone. */
const houseUrl = process.env['AUCTION_BACKEND_URL'] ?? (await startBackends()).url;

/** Formats by currency: few, and expensive to make. */
const formats = new Map<string, Intl.NumberFormat>();

export default defineGraph<Types>({
  authenticate,
  backends: { house: { url: houseUrl }, guide: { url: `${houseUrl}/guide` } },
  loaders,
  primers,
  resolvers: {
    Address: {
      formatted: ({ line1, line2, city, postal_code, country_code }: Address) =>
        [line1, line2, `${postal_code} ${city}`, country_code].filter(Boolean).join(', '),
    },
    Bid: {
      bidder_profile: ({ bidder }: Bid, _, ctx) => ctx.loaders.bidder.load(bidder.bidder_id),
      // Reads the viewer's id, so each bidder that selects it needs an execution of its own; guests, who have no id,
      // share one.
      is_mine: ({ bidder }: Bid, _, ctx) => ctx.viewer.id === bidder.bidder_id,
    },
    Price: {
      formatted: ({ value, currency }: Price) => formatOf(currency).format(value),
    },
    Query: {
      auctions: (_root, _args, ctx) => ctx.backends.house.get('/auctions'),
    },
    PropertyUpdate: {
      agent_contact: ({ agent }: PropertyUpdate, _, ctx) =>
        agent ? ctx.loaders.agent.load(agent.agent_id) : null,
    },
  },
});

/**
 * Trusts the id that the client sends, which is enough for an example. A real graph expects a token, verifies its
 * signature, audience and expiry, and makes the viewer of its claims.
 */
function authenticate({ bidderId }: Readonly<Record<string, unknown>>): Viewer | null {
  if (bidderId === undefined) return { role: 'guest' };
  return typeof bidderId === 'string' && bidderId !== '' ? { role: 'bidder', id: bidderId } : null;
}

function formatOf(currency: string): Intl.NumberFormat {
  let format = formats.get(currency);
  if (format === undefined) {
    format = new Intl.NumberFormat('en', { style: 'currency', currency, maximumFractionDigits: 0 });
    // Currencies come from events, so the number of formats kept is bounded.
    if (formats.size < 200) formats.set(currency, format);
  }
  return format;
}
