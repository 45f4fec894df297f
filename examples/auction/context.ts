import DataLoader from 'dataloader';
import { primeWith, urlPath, type Backend, type SharedContext } from 'sluice';

/** The user of a connection: a registered bidder, or a guest. */
export interface Viewer {
  readonly role: 'guest' | 'bidder';
  readonly id?: string;
}

/** The types by which the code of this graph is checked. */
export interface Types {
  Viewer: Viewer;
  Loaders: AuctionLoaders;
  Backends: 'house' | 'guide';
}

/** The back end's response, keys in snake_case. */
interface BidderProfile {
  readonly bidder_id: string;
  readonly display_name: string;
  readonly city: string;
  readonly member_since: string;
  readonly auctions_won: number;
}

interface AgentContact {
  readonly agent_id: string;
  readonly email: string;
  readonly languages: readonly string[];
  readonly office_hours: string;
}

/** Null: the back end has no such bidder or agent. */
interface AuctionLoaders {
  readonly bidder: DataLoader<string, BidderProfile | null>;
  readonly agent: DataLoader<string, AgentContact | null>;
}

/** Ids that the back end accepts in one request. */
const MAX_BATCH = 100;

/** One set for each event, so that an object is fetched once for all viewers. Each is made when a resolver reads it. */
export const loaders = (ctx: SharedContext<Types>): AuctionLoaders =>
  Proxy.lazy({
    bidder: new DataLoader<string, BidderProfile | null>((ids) => biddersOf(ctx.backends.house, ids), {
      maxBatchSize: MAX_BATCH,
    }),
    // One request for each id: it starts without waiting for other ids, and its failure affects no other agent.
    agent: new DataLoader<string, AgentContact | null>(
      (ids) => Promise.all(ids.map((id) => agentOf(ctx.backends.house, id))),
      { batch: false },
    ),
  });

/** Some producers include these objects in their events, so that they need not be fetched. */
export const primers = (ctx: SharedContext<Types>) =>
  Proxy.lazy({
    bidder: primeWith(ctx.loaders.bidder, 'bidder_profile', 'bidder_id'),
    agent: primeWith(ctx.loaders.agent, 'agent_contact', 'agent_id'),
  });

async function biddersOf(house: Backend, ids: readonly string[]): Promise<(BidderProfile | null)[]> {
  // This POST only reads, so the gateway may retry it.
  const found = await house.post<readonly BidderProfile[]>('/bidders/batch', { ids }, { idempotent: true });
  const byId = new Map(found.map((bidder) => [bidder.bidder_id, bidder]));
  return ids.map((id) => byId.get(id) ?? null);
}

function agentOf(house: Backend, id: string): Promise<AgentContact | null> {
  return house.get<AgentContact | null>(urlPath`/agents/${id}`, { nullIfNotFound: true });
}
