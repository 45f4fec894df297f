import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { AUCTIONS } from './auctions.ts';
import { askGuide } from './guide.ts';
import { AGENT_CONTACTS, BIDDER_PROFILES } from './people.ts';

/** The running back ends of the auction house. */
export interface AuctionBackends {
  readonly url: string;
  /** Number of requests so far. */
  readonly requests: number;
  close(): Promise<void>;
}

/**
 * Serves the data that the graph adds to events, on the loopback address only. It does not keep the process alive.
 *
 * | request                       | answer                                        |
 * |-------------------------------|-----------------------------------------------|
 * | GET /auctions                 | the auctions that are on                      |
 * | GET /agents/:id               | how to reach an agent; 404                    |
 * | POST /bidders/batch { ids }   | the profiles of those that exist, unsorted      |
 * | POST /guide                   | the city guide, a GraphQL subgraph            |
 *
 * @param port 0: any free port
 */
export async function startBackends(port = 0): Promise<AuctionBackends> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    void answer(request, response);
  });
  server.on('connection', (socket) => socket.unref());
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const found = await find(request);
    respond(response, found === undefined ? 404 : 200, found ?? { error: 'not found' });
  } catch {
    respond(response, 400, { error: 'expected JSON: { "ids": […] }, or a GraphQL request' });
  }
}

async function find(request: IncomingMessage): Promise<unknown> {
  const { method, url = '' } = request;
  if (method === 'POST' && url === '/bidders/batch') {
    const { ids } = JSON.parse(await text(request)) as { ids: readonly string[] };
    return BIDDER_PROFILES.filter(({ bidderId }) => ids.includes(bidderId));
  }
  if (method === 'POST' && url === '/guide') return askGuide(await text(request));
  if (method === 'GET' && url === '/auctions') return AUCTIONS;
  const [, id] = /^\/agents\/([^/]+)$/.exec(url) ?? [];
  if (method !== 'GET' || id === undefined) return undefined;
  return AGENT_CONTACTS.find(({ agentId }) => agentId === decodeURIComponent(id));
}

function respond(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
