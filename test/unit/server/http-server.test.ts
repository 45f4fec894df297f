import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { readBody } from '../../../src/server/body.ts';
import { HttpServer } from '../../../src/server/http-server.ts';
import { Router, type Route } from '../../../src/server/router.ts';
import { deferred } from '../../helpers/deferred.ts';
import { ask, dial, done, listen, serve, silent, upgradeRequest, type ListenOptions } from './serve.ts';

const never = (): AbortSignal => new AbortController().signal;

/** A server that has a request, which it answers when it is released. */
async function holding(t: TestContext, upgrade?: ListenOptions['upgrade']) {
  const [started, release] = [deferred(), deferred()];
  const listening = await listen(t, {
    handle: async (_request, response) => {
      started.resolve();
      await release.promise;
      response.end('done');
    },
    ...(upgrade && { upgrade }),
  });
  const answered = ask(listening.port, '/', { headers: { connection: 'keep-alive' } });
  answered.catch(() => undefined);
  await started.promise;
  return { ...listening, answered, release };
}

/** A client that has upgraded, and the server's end of its socket. */
async function upgraded(t: TestContext) {
  const taken = deferred<Duplex>();
  const upgrade: ListenOptions['upgrade'] = (_request, socket) => taken.resolve(socket);
  const { port, server } = await listen(t, { handle: done, upgrade });
  const client = dial(t, port, upgradeRequest('/graphql'));
  return { server, client, socket: (await taken.promise) as Socket };
}

describe('HttpServer', () => {
  it('names the setting and the port when another process has the port', async (t) => {
    const { port } = await listen(t, { handle: done });
    const second = new HttpServer({ port, setting: 'ADMIN_PORT', handle: done });
    await assert.rejects(second.start(), {
      code: 'BAD_SETTINGS',
      message: `ADMIN_PORT: expected a free port, got ${port}: another process listens on it. 0 lets the system choose one.`,
    });
  });

  it('listens on the address that it is given, and on no other', async (t) => {
    const { port } = await listen(t, { handle: done, address: '127.0.0.1' });
    const other = connect(port, '127.0.0.2');
    await assert.rejects(once(other, 'connect'), { code: 'ECONNREFUSED' });
    assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200);
  });

  it('names the setting of the address where no interface has it', async () => {
    const address = { address: '192.0.2.1', addressSetting: 'BIND' };
    const server = new HttpServer({ port: 0, setting: 'PORT', ...address, handle: done });
    await assert.rejects(server.start(), {
      code: 'BAD_SETTINGS',
      message: 'BIND: expected an address of this machine, got 192.0.2.1: no interface has it',
    });
  });

  it('sends security headers with every response, refusals and missing pages too', async (t) => {
    const { port } = await listen(t, { handle: new Router([], silent).handle });
    const { status, headers } = await ask(port, '/nowhere');
    assert.equal(status, 404);
    assert.match(String(headers['content-security-policy']), /^default-src 'none';.*frame-ancestors 'none'$/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['x-frame-options'], 'DENY');
  });

  for (const [what, sent, status] of [
    ['a malformed request', 'this is not HTTP\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const) {
    it(`answers ${what} with ${status} and goes on`, async (t) => {
      const { port } = await listen(t, { handle: done });
      assert.match(await text(dial(t, port, sent)), new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.equal((await ask(port, '/')).body, 'done');
    });
  }

  it('outlives a peer that resets its connection in mid-request', async (t) => {
    const [started, left] = [deferred(), deferred()];
    const route: Route = {
      path: '/',
      methods: {
        GET: (_request, response) => void response.end('done'),
        POST: async (incoming) => {
          started.resolve();
          await readBody(incoming, 1_000).finally(left.resolve);
        },
      },
    };
    const port = await serve(t, [route]);
    const socket = dial(t, port, 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhalf');
    await started.promise;
    socket.resetAndDestroy();
    await left.promise;
    assert.equal((await ask(port, '/')).body, 'done');
  });

  it('handles no more requests of a connection that has closed, and waits for none of them when it stops', async (t) => {
    const asked: (string | undefined)[] = [];
    const came = deferred();
    const closed = deferred();
    const { server, port } = await listen(t, {
      handle: async ({ url }, response) => {
        asked.push(url);
        response.on('close', () => closed.resolve());
        came.resolve();
      },
    });
    const requests = [1, 2, 3].map((n) => `GET /${n} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    const client = dial(t, port, requests.join(''));
    await came.promise;
    client.destroy();
    await closed.promise;
    await server.stop(new AbortController().signal);
    assert.deepEqual(asked, ['/1']);
  });

  it('closes connections at once when it stops that are idle, or have never sent a request', async (t) => {
    const { port, server } = await listen(t, { handle: done });
    const silentOne = connect(port, '127.0.0.1');
    await once(silentOne, 'connect');
    const agent = new Agent({ keepAlive: true });
    t.after(() => agent.destroy());
    const outgoing = request({ host: '127.0.0.1', port, agent }).end();
    const [idle] = (await once(outgoing, 'socket')) as [Socket];
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    await text(incoming); // By now the first connection has been taken, too.
    idle.ref(); // The agent lets go of idle ones.
    const closed = Promise.all([once(idle, 'close'), once(silentOne, 'close')]);
    await server.stop(never());
    await closed;
  });

  it('finishes the request in hand before it has stopped, and takes no new connection meanwhile', async (t) => {
    const { port, server, answered, release } = await holding(t);
    let stopped = false;
    const stopping = server.stop(never()).then(() => (stopped = true));
    await assert.rejects(ask(port, '/'), { code: 'ECONNREFUSED' });
    assert.equal(stopped, false);
    release.resolve();
    const { body, headers } = await answered;
    assert.deepEqual([body, headers.connection], ['done', 'close']);
    await stopping;
  });

  it('refuses upgrades while it finishes the request in hand, and cuts that off when the deadline comes', async (t) => {
    const { port, server, answered } = await holding(t, () => assert.fail('upgraded'));
    const late = connect(port, '127.0.0.1');
    await once(late, 'connect');
    const deadline = new AbortController();
    const stopping = server.stop(deadline.signal);
    late.write(upgradeRequest('/graphql'));
    assert.match(await text(late), /^HTTP\/1\.1 503 /);
    deadline.abort();
    await stopping;
    await assert.rejects(answered, { code: 'ECONNRESET' });
  });

  it('can refuse upgrades for good, with a Retry-After, and go on answering requests', async (t) => {
    const { port, server } = await listen(t, { handle: done, upgrade: () => assert.fail('upgraded') });
    server.refuseUpgrades();
    const client = dial(t, port, upgradeRequest('/graphql'));
    const head = /^HTTP\/1\.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n/;
    assert.match(await text(client), head);
    const { body, headers } = await ask(port, '/', { headers: { connection: 'keep-alive' } });
    assert.deepEqual([body, headers.connection], ['done', 'close']);
  });

  it('can leave new connections to others and go on with those it has', async (t) => {
    const { port, server, answered, release } = await holding(t);
    server.stopListening();
    await assert.rejects(ask(port, '/'), { code: 'ECONNREFUSED' });
    release.resolve();
    assert.equal((await answered).body, 'done');
    await server.stop(never());
  });

  it('keeps upgraded sockets open, however long they are silent, and stops without waiting for them', async (t) => {
    const { server, client, socket } = await upgraded(t);
    assert.equal(socket.timeout, 0);
    await server.stop(never());
    socket.end('still here');
    assert.equal(await text(client), 'still here');
  });
});
