import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { describe, it } from 'node:test';
import type { RequestHead } from '../../../src/graph/api/context.ts';
import { ClientAddresses } from '../../../src/server/client-address.ts';
import { graphqlRoute } from '../../../src/server/graphql-route.ts';
import { OriginCheck } from '../../../src/server/origin-check.ts';
import { RequestClients } from '../../../src/server/request-clients.ts';
import type { HttpClient } from '../../../src/transports/http/http-client.ts';
import type { ReadBody } from '../../../src/transports/http/request-bytes.ts';
import { fileScope, type Scope } from '../../helpers/scope.ts';
import { ask, dial, errorOf, serve, type Answer, type Ask } from './serve.ts';

const MAX = 1_000;
const STAYS = new AbortController().signal;

/** Connections of requests, and whose turns they take. */
const owners: [connection: object, owner: object][] = [];

function serveGraphql(scope: Scope, origins: string[] = []): Promise<number> {
  const transport = {
    respond: async (
      { url, headers: { 'x-refused': refused } }: RequestHead,
      readBody: ReadBody | undefined,
      { connection, owner }: HttpClient,
    ) => {
      owners.push([connection, owner]);
      const body = refused === undefined ? await readBody?.(STAYS) : 'refused';
      const headers = { 'content-type': 'application/json' };
      return { status: 200, headers, body: body?.toString() ?? url };
    },
  };
  const addresses = new ClientAddresses(undefined);
  const clients = new RequestClients({ addresses, requestsPerSecond: 50, now: () => 0 });
  const streamResponder = { respond: () => assert.fail('no subscription is asked for') };
  const originCheck = new OriginCheck(origins);
  const route = { transport, streamResponder, clients, originCheck, maxPayloadBytes: MAX };
  return serve(scope, [graphqlRoute(route)]);
}

const APP = 'https://app.example';
const port = await serveGraphql(fileScope());
const listing = await serveGraphql(fileScope(), [APP]);

const get = (query: string, headers: Ask['headers'] = {}): Promise<Answer> =>
  ask(port, `/graphql${query}`, { headers });
const post = (more: Ask = {}, to = port): Promise<Answer> =>
  ask(to, '/graphql', { method: 'POST', body: '{}', ...more });

const CHUNKED = { headers: { 'transfer-encoding': 'chunked' } };
const TOO_LARGE = 'x'.repeat(MAX + 1);

const refusedOrigin = (got: string): object => {
  const message = `expected an Origin that is the gateway's own host, got ${got}`;
  return { errors: [{ message, extensions: { code: 'ORIGIN_NOT_ALLOWED' } }] };
};

describe('/graphql', () => {
  it('hands the body to the POST transport and sends its answer back', async () => {
    const { status, body, headers } = await post({ body: '{"ä":1}' });
    assert.deepEqual([status, body, headers['content-type']], [200, '{"ä":1}', 'application/json']);
  });

  it('answers 413 to a body that is too large, whether its length is declared or turns out', async () => {
    assert.equal((await post({ body: 'x'.repeat(MAX) })).status, 200);
    for (const more of [{}, CHUNKED]) {
      const answer = await post({ body: TOO_LARGE, ...more });
      assert.equal(answer.status, 413);
      assert.equal(errorOf(answer), 'expected a body of at most 1000 bytes (MAX_PAYLOAD_BYTES), got more');
    }
  });

  it('does not wait for a body whose declared length is too much', async (t) => {
    const sent = `POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${MAX + 1}\r\n\r\n`;
    const socket = dial(t, port, sent);
    const [head] = (await once(socket, 'data')) as [Buffer];
    assert.match(head.toString(), /^HTTP\/1\.1 413 /);
  });

  it('reads past a body that is too long, so that the client can use its connection again', async (t) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    assert.equal((await post({ ...CHUNKED, body: Buffer.alloc(5_000_000), agent })).status, 413);
    assert.equal((await post({ agent })).status, 200);
  });

  it('drops the body of a request that is refused without reading it, and the connection goes on', async (t) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const headers = { 'x-refused': 'yes' };
    const begun = owners.length;
    for (const body of ['{}', 'x'.repeat(MAX), Buffer.alloc(5_000_000)]) {
      assert.equal((await post({ headers, body, agent })).body, 'refused');
    }
    assert.equal((await post({ body: '{"a":1}', agent })).body, '{"a":1}');
    const [connections, takers] = [0, 1].map((of) => new Set(owners.slice(begun).map((seen) => seen[of])));
    assert.deepEqual([connections?.size, takers?.size], [1, 1], 'one connection, whose turns all take');
  });

  it('tells a user who opens it in a browser what to do instead, with any query but a document', async () => {
    for (const query of ['', '?token=a', '?variables={}', '?']) {
      const answer = await get(query);
      assert.deepEqual([answer.status, answer.headers.upgrade], [426, 'websocket']);
      assert.match(errorOf(answer), /graphql-transport-ws/);
    }
  });

  it('hands a query in the URL to the transport, and has its answer not kept', async () => {
    for (const query of ['?query={a}', '?documentId=a', '?extensions={}&query']) {
      const { status, body, headers } = await get(query);
      assert.deepEqual([status, body, headers['cache-control']], [200, `/graphql${query}`, 'no-store']);
    }
  });

  it('answers 414 to a URL that is longer than a body may be', async () => {
    const query = '?query='.padEnd(MAX - '/graphql'.length, 'x');
    assert.equal((await get(query)).status, 200);
    const answer = await get(`${query}x`);
    assert.deepEqual([answer.status, answer.headers['cache-control']], [414, 'no-store']);
    assert.equal(errorOf(answer), 'expected a URL of at most 1000 bytes (MAX_PAYLOAD_BYTES), got more');
  });

  it('refuses a page of another host, by GET and by POST', async () => {
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' };
    for (const answer of [await get('?query={a}', headers), await post({ headers })]) {
      assert.equal(answer.status, 403);
      assert.deepEqual(JSON.parse(answer.body), refusedOrigin('"https://evil.example"'));
    }
  });

  // cors.test.ts has what pages may read and send.
  for (const [what, origin, allowed, statuses] of [
    ['listed page', APP, APP, [200, 413]],
    ['page of another host', 'https://evil.example', '*', [403, 403]],
  ] as const) {
    it(`tells a ${what} whether it may ask, and lets it read each answer, also why it was refused`, async () => {
      const preflight = await post({ method: 'OPTIONS', headers: { origin }, body: '' }, listing);
      assert.deepEqual([preflight.status, preflight.body], [204, '']);
      assert.equal(preflight.headers['access-control-allow-headers'], 'authorization, content-type');
      const answers = [
        await post({ headers: { origin } }, listing),
        await post({ headers: { origin }, body: TOO_LARGE }, listing),
      ];
      assert.deepEqual([answers[0]?.status, answers[1]?.status], statuses);
      for (const { headers } of [preflight, ...answers])
        assert.equal(headers['access-control-allow-origin'], allowed);
    });
  }
});
