import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { graphqlRoute } from '../../../src/server/graphql-route.ts';
import { OriginCheck } from '../../../src/server/origin-check.ts';
import { ask, errorOf, serve } from './serve.ts';

const MAX = 1_000;

function serveGraphql(t: TestContext, origins: string[] = []): Promise<number> {
  const transport = {
    respond: async ({ url }: { readonly url: string }, body: string | undefined) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: body ?? url,
    }),
  };
  const streamResponder = { respond: () => assert.fail('no subscription is asked for') };
  const originCheck = new OriginCheck(origins);
  return serve(t, [graphqlRoute({ transport, streamResponder, originCheck, maxPayloadBytes: MAX })]);
}

describe('/graphql', () => {
  it('hands the body to the POST transport and sends its answer back', async (t) => {
    const port = await serveGraphql(t);
    const { status, body, headers } = await ask(port, '/graphql', { method: 'POST', body: '{"ä":1}' });
    assert.equal(status, 200);
    assert.equal(body, '{"ä":1}');
    assert.equal(headers['content-type'], 'application/json');
  });

  it('takes a body of just the size that is allowed', async (t) => {
    const port = await serveGraphql(t);
    assert.equal((await ask(port, '/graphql', { method: 'POST', body: 'x'.repeat(MAX) })).status, 200);
  });

  it('answers 413 to a body whose declared length is too much', async (t) => {
    const port = await serveGraphql(t);
    const answer = await ask(port, '/graphql', { method: 'POST', body: 'x'.repeat(MAX + 1) });
    assert.equal(answer.status, 413);
    assert.equal(errorOf(answer), 'expected a body of at most 1000 bytes (MAX_PAYLOAD_BYTES), got more');
  });

  it('does not wait for a body whose declared length is too much', async (t) => {
    const port = await serveGraphql(t);
    const socket = connect(port, 'localhost');
    t.after(() => socket.destroy());
    socket.write(`POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${MAX + 1}\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    assert.match(head.toString(), /^HTTP\/1\.1 413 /);
  });

  it('answers 413 to a body that turns out too long', async (t) => {
    const port = await serveGraphql(t);
    const headers = { 'transfer-encoding': 'chunked' };
    const answer = await ask(port, '/graphql', { method: 'POST', headers, body: 'x'.repeat(MAX + 1) });
    assert.equal(answer.status, 413);
  });

  it('reads past a body that is too long, so that the client can use its connection again', async (t) => {
    const port = await serveGraphql(t);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const headers = { 'transfer-encoding': 'chunked' };
    const body = Buffer.alloc(5_000_000);
    assert.equal((await ask(port, '/graphql', { method: 'POST', headers, body, agent })).status, 413);
    assert.equal((await ask(port, '/graphql', { method: 'POST', body: '{}', agent })).status, 200);
  });

  it('tells a user who opens it in a browser what to do instead', async (t) => {
    const port = await serveGraphql(t);
    const answer = await ask(port, '/graphql');
    assert.equal(answer.status, 426);
    assert.equal(answer.headers.upgrade, 'websocket');
    assert.match(errorOf(answer), /graphql-transport-ws/);
  });

  it('takes a GET without a query for an upgrade that a proxy has not passed on', async (t) => {
    const port = await serveGraphql(t);
    for (const url of ['/graphql?token=a', '/graphql?variables={}', '/graphql?']) {
      assert.equal((await ask(port, url)).status, 426);
    }
  });

  it('hands a query in the URL to the transport, and has its answer not kept', async (t) => {
    const port = await serveGraphql(t);
    for (const url of ['/graphql?query={a}', '/graphql?documentId=a', '/graphql?extensions={}&query']) {
      const { status, body, headers } = await ask(port, url);
      assert.deepEqual([status, body], [200, url]);
      assert.equal(headers['cache-control'], 'no-store');
    }
  });

  it('answers 414 to a URL that is longer than a body may be', async (t) => {
    const port = await serveGraphql(t);
    const url = '/graphql?query='.padEnd(MAX, 'x');
    assert.equal((await ask(port, url)).status, 200);
    const answer = await ask(port, `${url}x`);
    assert.equal(answer.status, 414);
    assert.equal(errorOf(answer), 'expected a URL of at most 1000 bytes (MAX_PAYLOAD_BYTES), got more');
    assert.equal(answer.headers['cache-control'], 'no-store');
  });

  it('does not execute what an element of a page of another site asks for, which sends no Origin', async (t) => {
    const port = await serveGraphql(t);
    for (const site of ['cross-site', 'same-site', 'unheard-of']) {
      const answer = await ask(port, '/graphql?query={a}', { headers: { 'sec-fetch-site': site } });
      assert.equal(answer.status, 403);
      assert.match(answer.body, /got none.*ORIGIN_NOT_ALLOWED/);
    }
    for (const site of ['same-origin', 'none']) {
      const { status } = await ask(port, '/graphql?query={a}', { headers: { 'sec-fetch-site': site } });
      assert.equal(status, 200);
    }
  });

  it('refuses a GET of a page of another host', async (t) => {
    const port = await serveGraphql(t);
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' };
    const answer = await ask(port, '/graphql?query={a}', { headers });
    assert.equal(answer.status, 403);
    assert.equal(answer.headers['access-control-allow-origin'], '*');
  });

  it('refuses a page of another host', async (t) => {
    const port = await serveGraphql(t);
    const headers = { origin: 'https://evil.example' };
    const answer = await ask(port, '/graphql', { method: 'POST', headers, body: '{}' });
    assert.equal(answer.status, 403);
    assert.deepEqual(JSON.parse(answer.body), {
      errors: [
        {
          message: 'expected an Origin that is the gateway\'s own host, got "https://evil.example"',
          extensions: { code: 'ORIGIN_NOT_ALLOWED' },
        },
      ],
    });
  });

  it('lets a page of another host read why it is refused, but send no cookies with it', async (t) => {
    const port = await serveGraphql(t, ['https://app.example']);
    for (const origin of ['https://evil.example', 'null']) {
      const headers = { origin };
      const preflight = await ask(port, '/graphql', { method: 'OPTIONS', headers });
      assert.equal(preflight.status, 204);
      assert.equal(preflight.body, '');
      assert.equal(preflight.headers['access-control-allow-headers'], 'authorization, content-type');
      assert.equal(preflight.headers['access-control-max-age'], '0');
      assert.equal(preflight.headers.vary, 'Origin, Access-Control-Request-Headers');
      const answer = await ask(port, '/graphql', { method: 'POST', headers, body: '{}' });
      assert.equal(answer.status, 403);
      for (const { headers: sent } of [preflight, answer]) {
        assert.equal(sent['access-control-allow-origin'], '*');
        assert.equal(sent['access-control-allow-credentials'], undefined);
      }
      assert.equal(answer.headers.vary, 'Origin');
    }
  });

  it('lets a listed page send JSON and a token, and read the answer', async (t) => {
    const port = await serveGraphql(t, ['https://app.example']);
    const headers = { origin: 'https://app.example' };
    const preflight = await ask(port, '/graphql', { method: 'OPTIONS', headers });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers['access-control-allow-origin'], 'https://app.example');
    assert.equal(preflight.headers['access-control-allow-headers'], 'authorization, content-type');
    assert.equal(preflight.headers['access-control-allow-methods'], 'GET, POST');
    const answer = await ask(port, '/graphql', { method: 'POST', headers, body: '{}' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['access-control-allow-origin'], 'https://app.example');
  });

  it('lets a listed page read why it was refused', async (t) => {
    const port = await serveGraphql(t, ['https://app.example']);
    const answer = await ask(port, '/graphql', {
      method: 'POST',
      headers: { origin: 'https://app.example' },
      body: 'x'.repeat(MAX + 1),
    });
    assert.equal(answer.status, 413);
    assert.equal(answer.headers['access-control-allow-origin'], 'https://app.example');
  });
});
