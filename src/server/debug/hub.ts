import { numberParameter } from '../number-parameter.ts';
import { sendJson } from '../respond.ts';
import type { Handle } from '../router.ts';

/** Groups or channels: all are counted, the largest are listed. */
interface Listing {
  readonly count: number;
  readonly largest: readonly unknown[];
}

interface HubInspection {
  readonly groups: Listing;
  readonly channels: Listing;
  readonly executions: unknown;
}

/** What `/debug/hub` shows. */
export interface Inspectable {
  readonly hub: { inspect(limit: number): HubInspection };
  readonly connections: { inspect(limit: number): unknown };
  /** Clients' addresses, where they are known. */
  readonly addresses: { inspect(limit: number): unknown };
}

const LIMIT = { min: 1, max: 1_000, default: 100 };

/** Number of slow sockets listed, and of addresses with most connections. */
const SOCKETS = 10;

/**
 * Length of one list as JSON. Documents, variables and names of channels come from clients and may be long, so a list
 * may end here before it has `limit` entries.
 */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** `/debug/hub?limit=`: groups, channels, slow sockets, and executions that run or wait. */
export function hubState({ hub, connections, addresses }: Inspectable): Handle {
  return (request, response) => {
    const { groups, channels, executions } = hub.inspect(numberParameter(request, 'limit', LIMIT));
    const state = {
      sockets: connections.inspect(SOCKETS),
      addresses: addresses.inspect(SOCKETS),
      groups: shortened(groups),
      channels: shortened(channels),
      executions,
    };
    sendJson(response, 200, state, { 'cache-control': 'no-store' });
  };
}

function shortened(listing: Listing): Listing {
  let characters = 0;
  const end = listing.largest.findIndex(
    (entry) => (characters += JSON.stringify(entry).length) > MAX_CHARACTERS,
  );
  return end === -1 ? listing : { ...listing, largest: listing.largest.slice(0, end) };
}
