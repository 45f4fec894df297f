import DataLoader from 'dataloader';
import { primeWith, urlPath, type Backend, type GraphContext, type SharedContext } from 'sluice';

/** Who watches: somebody who may bid, or anybody. */
export type Viewer = { readonly role: 'guest' } | { readonly role: 'bidder'; readonly id: string };

/** As the back end answers, keys in snake_case. */
type BidderProfile = {
  readonly bidder_id: string;
  readonly display_name: string;
  readonly city: string;
  readonly member_since: string;
  readonly auctions_won: number;
};

type AgentContact = {
  readonly agent_id: string;
  readonly email: string;
  readonly languages: readonly string[];
  readonly office_hours: string;
};

/** Null: the back end doesn't know them. */
type AuctionLoaders = {
  readonly bidder: DataLoader<string, BidderProfile | null>;
  readonly agent: DataLoader<string, AgentContact | null>;
};

interface Shared extends SharedContext {
  readonly backends: { readonly house: Backend };
  readonly loaders: AuctionLoaders;
}

/** `ctx` of the resolvers, with this graph's own names in it. */
export interface Context extends GraphContext {
  readonly viewer: Partial<Readonly<Record<'role' | 'id', string>>>;
  readonly backends: Shared['backends'];
  readonly loaders: AuctionLoaders;
}

/** What the back end takes in one request. */
const MAX_BATCH = 100;

/** One set an event, each made when a resolver first reads it: whatever is fetched is fetched once for all viewers. */
export const loaders = (ctx: Shared): AuctionLoaders =>
  Proxy.lazy({
    bidder: new DataLoader<string, BidderProfile | null>((ids) => biddersOf(ctx.backends.house, ids), {
      maxBatchSize: MAX_BATCH,
    }),
    // A request for each: there is nothing to wait for, and one that fails is nobody else's fault.
    agent: new DataLoader<string, AgentContact | null>(
      (ids) => Promise.all(ids.map((id) => agentOf(ctx.backends.house, id))),
      { batch: false },
    ),
  });

/** Some producers send along what others leave to be fetched. */
export const primers = (ctx: Shared) =>
  Proxy.lazy({
    bidder: primeWith(ctx.loaders.bidder, 'bidder_profile', 'bidder_id'),
    agent: primeWith(ctx.loaders.agent, 'agent_contact', 'agent_id'),
  });

async function biddersOf(house: Backend, ids: readonly string[]): Promise<(BidderProfile | null)[]> {
  // It only reads, though it is a POST, so that it may be tried again.
  const found = await house.post<readonly BidderProfile[]>('/bidders/batch', { ids }, { idempotent: true });
  const byId = new Map(found.map((bidder) => [bidder.bidder_id, bidder]));
  return ids.map((id) => byId.get(id) ?? null);
}

function agentOf(house: Backend, id: string): Promise<AgentContact | null> {
  return house.get<AgentContact | null>(urlPath`/agents/${id}`, { nullIfNotFound: true });
}
