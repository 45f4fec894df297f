import assert from 'node:assert/strict';
import type { RequestListener, ServerResponse } from 'node:http';
import test, { type TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { postJson } from '../helpers/http-exchange.ts';
import { serveHttp } from '../helpers/local-server.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { SECRET, signToken } from '../helpers/tokens.ts';
import { revoke, startGraph } from '../e2e/graph-gateway.ts';

const SCHEMA = `
  type Query { a: Int }
  type Mutation { pay(name: String!): String }
  type Subscription { item: Item @event(topic: "items") }
  type Item { n: Int, slow: String }
`;

const GRAPH = `
  import { defineGraph, urlPath } from 'sluice';
  const call = (name, ctx) => ctx.backends.bank.post(urlPath\`/\${name}\`, {}, { idempotent: false });
  export default defineGraph({
    backends: { bank: { url: process.env.BANK_URL, timeoutMs: 600_000, maxConcurrency: 1_000 } },
    AUTHENTICATE
    resolvers: {
      Mutation: { pay: (_parent, { name }, ctx) => call(name, ctx) },
      Item: { slow: (_item, _args, ctx) => call(\`item-\${ctx.viewer.id}\`, ctx) },
    },
  });
`;

/** Each mutation has a place of few for as long as the bank takes. */
const PLACES = 4;
const WAITING = 20;

/** Keeps requests waiting until it opens, and notes all that come. */
class Bank {
  readonly asked: string[] = [];
  readonly #held = new Set<ServerResponse>();
  #isOpen = false;
  readonly serve: RequestListener = (request, response) => {
    this.asked.push(request.url?.slice(1) ?? '');
    if (this.#isOpen) answer(response);
    else this.#held.add(response);
    response.once('close', () => this.#held.delete(response));
  };

  get held(): number {
    return this.#held.size;
  }

  open(): void {
    this.#isOpen = true;
    for (const response of this.#held) answer(response);
  }
}

function answer(response: ServerResponse): void {
  response.setHeader('content-type', 'application/json').end('"paid"');
}

async function start(t: TestContext, bank: Bank, authenticate = '', settings = {}): Promise<GatewayProcess> {
  const files = { 'schema.graphql': SCHEMA, 'graph.js': GRAPH.replace('AUTHENTICATE', authenticate) };
  return startGraph(t, files, {
    BANK_URL: await serveHttp(t, bank.serve),
    EXECUTE_CONCURRENCY: String(PLACES),
    EXECUTE_TIMEOUT_MS: '600000',
    ...settings,
  });
}

interface Sender {
  readonly init: object;
  readonly headers: Record<string, string>;
}

type SenderOf = (id: string) => Promise<Sender>;

const byToken: SenderOf = async (id) => {
  const token = await signToken({ sub: id });
  return { init: { token }, headers: { authorization: `Bearer ${token}` } };
};

const byGraph: SenderOf = async (id) => ({ init: { id }, headers: { 'x-id': id } });

const AUTHENTICATE = `authenticate: ({ id }, { headers }) => ({ id: id ?? headers['x-id'] }),`;

const WAYS = [
  ['a viewer with a token', byToken, '', { AUTH_SECRET: SECRET }],
  ['one whom the graph knows, without tokens', byGraph, AUTHENTICATE, {}],
] as const;

for (const [who, senderOf, authenticate, settings] of WAYS) {
  test(`no mutation that waited begins for a viewer that is revoked, though the client never answers the close: ${who}`, async (t) => {
    const bank = new Bank();
    const gateway = await start(t, bank, authenticate, settings);
    const [ann, bob] = [await senderOf('ann'), await senderOf('bob')];
    const pay = (name: string, { headers }: Sender) =>
      postJson(`${gateway.httpUrl}/graphql`, { query: `mutation { pay(name: "${name}") }` }, headers);
    const socket = await connectAndInit(t, gateway.graphqlUrl, ann.init);
    for (let n = 0; n < WAITING; n += 1) socket.subscribe(`${n}`, `mutation { pay(name: "ann-${n}") }`);
    await socket.roundTrip();
    const posted = Array.from({ length: WAITING }, (_, n) => pay(`ann-posted-${n}`, ann));
    await eventually(async () => {
      const { executions } = await gateway.debug<{ executions: { running: number; waiting: number } }>('hub');
      const { running, waiting } = executions;
      assert.deepEqual([running, waiting, bank.held], [PLACES, 2 * WAITING - PLACES, PLACES]);
    });
    socket.webSocket.pause();
    const before = bank.asked.length;
    await revoke(gateway, 'id', 'ann');
    bank.open();
    // Had any been left to begin, these would have had turns between them.
    for (let n = 0; n < 3 * WAITING; n += 1) assert.equal((await pay(`bob-${n}`, bob)).status, 200);
    const begun = bank.asked.slice(before).filter((name) => name.startsWith('ann'));
    assert.equal(begun.length, 0, `begun after the revocation: ${begun.join(', ')}`);
    assert.deepEqual(new Set((await Promise.all(posted)).map((answered) => answered.status)), new Set([401]));
  });
}

test('no event is executed any more for a viewer that is revoked, by WebSocket or as a stream, though the client never answers the close', async (t) => {
  const bank = new Bank();
  bank.open();
  const gateway = await start(t, bank, '', { AUTH_SECRET: SECRET });
  const query = 'subscription { item { slow } }';
  const [ann, bob] = [await byToken('ann'), await byToken('bob')];
  const socket = await connectAndInit(t, gateway.graphqlUrl, ann.init);
  const other = await connectAndInit(t, gateway.graphqlUrl, bob.init);
  for (const one of [socket, other]) one.subscribe('1', query);
  const stream = await fetch(`${gateway.httpUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...ann.headers },
    body: JSON.stringify({ query }),
  });
  assert.equal(stream.status, 200);
  await gateway.untilMetric('sluice_subscribers', 3);
  socket.webSocket.pause();
  await revoke(gateway, 'id', 'ann');
  await gateway.postEvent('items', { n: 1 });
  await other.until(({ type }) => type === 'next');
  assert.deepEqual(bank.asked, ['item-bob']);
  assert.equal(await gateway.metric('sluice_subscribers'), 1);
});
