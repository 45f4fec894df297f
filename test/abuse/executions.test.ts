import assert from 'node:assert/strict';
import type { RequestListener, ServerResponse } from 'node:http';
import net from 'node:net';
import test, { type TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startGraph } from '../e2e/graph-gateway.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { serveHttp } from '../helpers/local-server.ts';
import { connect, connectAndInit } from '../helpers/raw-socket.ts';
import type { Scope } from '../helpers/scope.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';

const SCHEMA = `
  type Query { slow(name: String!): String }
  type Mutation { slow(name: String!): String }
  type Subscription { item(name: String!): Item @event(topic: "items") }
  type Item { n: Int, slow(name: String!): String }
`;

const GRAPH = `
  import { defineGraph, urlPath } from 'sluice';
  const slow = (_parent, { name }, ctx) => ctx.backends.slow.get(urlPath\`/\${name}\`);
  export default defineGraph({
    backends: { slow: { url: process.env.SLOW_URL, timeoutMs: 600_000, maxConcurrency: 1_000 } },
    resolvers: { Query: { slow }, Mutation: { slow }, Item: { slow } },
  });
`;

/** A back end that answers requests for `/quick…` at once, and others only when the gateway gives them up. */
class SlowBackend {
  readonly #open = new Map<string, ServerResponse>();
  readonly answer: RequestListener = (request, response) => {
    const name = request.url?.slice(1) ?? '';
    if (name.startsWith('quick')) {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(name));
      return;
    }
    this.#open.set(name, response);
    response.once('close', () => this.#open.delete(name));
  };

  untilAsked(name: string): Promise<void> {
    return eventually(() => assert.ok(this.#open.has(name), `expected a request for ${name}`));
  }

  untilGivenUp(name: string): Promise<void> {
    return eventually(() => assert.ok(!this.#open.has(name), `expected ${name} to be given up`));
  }
}

const backend = new SlowBackend();

async function start(scope: Scope): Promise<GatewayProcess> {
  const files = { 'schema.graphql': SCHEMA, 'graph.js': GRAPH };
  return startGraph(scope, files, {
    SLOW_URL: await serveHttp(scope, backend.answer),
    EXECUTE_CONCURRENCY: '8',
    TRUSTED_PROXIES: '127.0.0.0/8,::1/128',
    EXECUTE_TIMEOUT_MS: '600000',
  });
}

const gatewayOf = sharedGateway(start);

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });

const post = (gateway: GatewayProcess, query: string, signal?: AbortSignal, more = {}): Promise<unknown> =>
  fetch(`${gateway.httpUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...more },
    body: JSON.stringify({ query }),
    ...(signal !== undefined && { signal }),
  }).then((response) => response.json());

function untilIdle(gateway: GatewayProcess): Promise<void> {
  return eventually(async () => {
    const { executions } = await gateway.debug<{ executions: unknown }>('hub');
    assert.deepEqual(executions, { running: 0, waiting: 0, late: 0 });
  });
}

/** Another client is not held up. */
async function untilServed(t: TestContext, gateway: GatewayProcess): Promise<void> {
  const quick = '{ slow(name: "quick") }';
  assert.deepEqual(await post(gateway, quick), { data: { slow: 'quick' } });
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  socket.subscribe('other', quick);
  const { payload } = await socket.until(({ id, type }) => id === 'other' && type === 'next');
  assert.deepEqual(payload, { data: { slow: 'quick' } });
}

for (const kind of ['query', 'mutation']) {
  test(`complete and a closed socket abort a ${kind}, and the calls that it has made`, async (t) => {
    const gateway = await gatewayOf();
    const socket = await connectAndInit(t, gateway.graphqlUrl);
    for (const name of ['completed', 'closed']) {
      socket.subscribe(name, `${kind} { slow(name: "${name}") }`);
      await backend.untilAsked(name);
      if (name === 'completed') socket.send({ type: 'complete', id: name });
      else socket.webSocket.terminate();
      await backend.untilGivenUp(name);
    }
    const answers = socket.messages.filter(({ id }) => id !== undefined);
    assert.deepEqual(answers, [], 'a client gets nothing for what it has completed');
  });

  test(`a closed request aborts a ${kind} by POST, and the calls that it has made`, async () => {
    const gateway = await gatewayOf();
    const leaving = new AbortController();
    const response = post(gateway, `${kind} { slow(name: "posted") }`, leaving.signal);
    await backend.untilAsked('posted');
    leaving.abort();
    await assert.rejects(response);
    await backend.untilGivenUp('posted');
  });
}

test('the last subscriber of an execution that leaves aborts it', async (t) => {
  const gateway = await gatewayOf();
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  socket.subscribe('1', 'subscription { item(name: "a") { slow(name: "event") } }');
  await gateway.untilMetric('sluice_subscribers', 1);
  await gateway.postEvent('items', { name: 'a' });
  await backend.untilAsked('event');
  socket.send({ type: 'complete', id: '1' });
  await backend.untilGivenUp('event');
});

test('queries that one socket has waiting hold up no other client, and go with the socket', async (t) => {
  const gateway = await gatewayOf();
  const attacker = await connectAndInit(t, gateway.graphqlUrl);
  for (let n = 0; n < 100; n += 1) attacker.subscribe(String(n), `{ slow(name: "${n}") }`);
  await backend.untilAsked('3');
  await untilServed(t, gateway);
  attacker.webSocket.terminate();
  await backend.untilGivenUp('3');
  await untilIdle(gateway);
});

test('queries of one address, however many connections it has, leave places for those of others', async (t) => {
  const gateway = await gatewayOf();
  const attacker = from('203.0.113.1');
  const leaving = new AbortController();
  t.after(() => leaving.abort());
  const sockets = await Promise.all(
    Array.from({ length: 10 }, () => connect(t, gateway.graphqlUrl, attacker)),
  );
  for (const [index, socket] of sockets.entries()) {
    socket.send({ type: 'connection_init' });
    await socket.until(({ type }) => type === 'connection_ack');
    for (let n = 0; n < 10; n += 1) socket.subscribe(String(n), `{ slow(name: "${index}-${n}") }`);
    const { headers } = attacker;
    post(gateway, `{ slow(name: "posted-${index}") }`, leaving.signal, headers).catch(() => undefined);
  }
  await backend.untilAsked('0-3');
  const signal = AbortSignal.timeout(10_000);
  const { headers } = from('198.51.100.1');
  assert.deepEqual(await post(gateway, '{ slow(name: "quick") }', signal, headers), {
    data: { slow: 'quick' },
  });
  for (const socket of sockets) socket.webSocket.terminate();
  leaving.abort();
  await backend.untilGivenUp('0-3');
});

test('of a pipeline that is cut the query in hand is given up, and none behind it is executed', async (t) => {
  const gateway = await gatewayOf();
  const socket = net.connect(gateway.port, '127.0.0.1');
  t.after(() => socket.destroy());
  for (let n = 0; n < 20; n += 1) {
    const body = JSON.stringify({ query: `{ slow(name: "piped-${n}") }` });
    socket.write(
      `POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  }
  await backend.untilAsked('piped-0');
  socket.destroy();
  await backend.untilGivenUp('piped-0');
  await untilIdle(gateway);
});

test('20 slow subscriptions of one socket hold up no other client', async (t) => {
  const gateway = await gatewayOf();
  const attacker = await connectAndInit(t, gateway.graphqlUrl);
  for (let n = 0; n < 20; n += 1) {
    attacker.subscribe(String(n), `subscription { item(name: "${n}") { slow(name: "event${n}") } }`);
  }
  const other = await connectAndInit(t, gateway.graphqlUrl);
  other.subscribe('other', 'subscription { item(name: "x") { n slow(name: "quick") } }');
  await gateway.untilMetric('sluice_subscribers', 21);
  for (let n = 1; n <= 10; n += 1) await gateway.postEvent('items', { name: 'x', n });
  const last = { data: { item: { n: 10, slow: 'quick' } } };
  await other.until(({ payload }) => JSON.stringify(payload) === JSON.stringify(last));
  await untilServed(t, gateway);
});
