import { defineGraph } from 'sluice';
import { startBackends } from './backends.ts';
import { loaders, primers, type Context, type Viewer } from './context.ts';

type Address = { line1: string; line2?: string; city: string; postal_code: string; country_code: string };
type Price = { value: number; currency: string };
type Bid = { bidder: { bidder_id: string } };
type PropertyUpdate = { agent?: { agent_id: string } | null };

/** Without a house to ask, the example brings its own, so that it runs alone. */
const houseUrl = process.env['AUCTION_BACKEND_URL'] ?? (await startBackends()).url;

/** Formats are costly to make and few. */
const formats = new Map<string, Intl.NumberFormat>();

export default defineGraph({
  authenticate,
  backends: { house: { url: houseUrl } },
  loaders,
  primers,
  resolvers: {
    Address: {
      formatted: ({ line1, line2, city, postal_code, country_code }: Address) =>
        [line1, line2, `${postal_code} ${city}`, country_code].filter(Boolean).join(', '),
    },
    Bid: {
      bidder_profile: ({ bidder }: Bid, _, ctx: Context) => ctx.loaders.bidder.load(bidder.bidder_id),
      // Whoever asks for it gets an execution of their own, as nobody has the id of somebody else; guests, who have
      // none, share one.
      is_mine: ({ bidder }: Bid, _, ctx: Context) => ctx.viewer.id === bidder.bidder_id,
    },
    Price: {
      formatted: ({ value, currency }: Price) => formatOf(currency).format(value),
    },
    PropertyUpdate: {
      agent_contact: ({ agent }: PropertyUpdate, _, ctx: Context) =>
        agent ? ctx.loaders.agent.load(agent.agent_id) : null,
    },
  },
});

/**
 * Takes everybody's word for who they are, which will do for an example. A real graph gets a token here, verifies its
 * signature, audience and expiry, and takes the viewer from its claims.
 */
function authenticate({ bidderId }: Readonly<Record<string, unknown>>): Viewer | null {
  if (bidderId === undefined) return { role: 'guest' };
  return typeof bidderId === 'string' && bidderId !== '' ? { role: 'bidder', id: bidderId } : null;
}

function formatOf(currency: string): Intl.NumberFormat {
  let format = formats.get(currency);
  if (format === undefined) {
    format = new Intl.NumberFormat('en', { style: 'currency', currency, maximumFractionDigits: 0 });
    // Currencies come from events: should those go wild, this must not grow with them.
    if (formats.size < 200) formats.set(currency, format);
  }
  return format;
}
