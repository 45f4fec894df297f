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
import { ask, deferred, done, listen, serve, silent } from './serve.ts';

const UPGRADE =
  'GET /graphql HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';

/** A server that answers each request when it is released, and says when one has come. */
async function listenAndHold(t: TestContext) {
  const started = deferred();
  const release = deferred();
  const listening = await listen(t, {
    handle: async (_request, response) => {
      started.resolve();
      await release.promise;
      response.end('done');
    },
  });
  return { ...listening, started, release };
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
    const server = new HttpServer({
      port: 0,
      setting: 'PORT',
      address: '192.0.2.1',
      addressSetting: 'BIND',
      handle: done,
    });
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

  it('answers a malformed request with 400 and goes on', async (t) => {
    const { port } = await listen(t, { handle: done });
    const socket = connect(port, 'localhost');
    socket.end('this is not HTTP\r\n\r\n');
    assert.match(await text(socket), /^HTTP\/1\.1 400 /);
    assert.equal((await ask(port, '/')).body, 'done');
  });

  it('answers headers without end with 431 and goes on', async (t) => {
    const { port } = await listen(t, { handle: done });
    const socket = connect(port, 'localhost');
    socket.write(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`);
    assert.match(await text(socket), /^HTTP\/1\.1 431 /);
    assert.equal((await ask(port, '/')).body, 'done');
  });

  it('outlives a peer that resets its connection in mid-request', async (t) => {
    const started = deferred();
    const left = deferred();
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
    const socket = connect(port, 'localhost');
    socket.write('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhalf');
    await started.promise;
    socket.resetAndDestroy();
    await left.promise;
    assert.equal((await ask(port, '/')).body, 'done');
  });

  it('closes an idle keep-alive connection at once when it stops', async (t) => {
    const { port, server } = await listen(t, { handle: done });
    const agent = new Agent({ keepAlive: true });
    t.after(() => agent.destroy());
    const outgoing = request({ host: 'localhost', port, agent }).end();
    const [socket] = (await once(outgoing, 'socket')) as [Socket];
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    await text(incoming);
    socket.ref(); // The agent lets go of idle ones.
    const closed = once(socket, 'close');
    await server.stop(new AbortController().signal);
    await closed;
  });

  it('closes a connection that never sent a request when it stops', async (t) => {
    const { port, server } = await listen(t, { handle: done });
    const socket = connect(port, 'localhost');
    await once(socket, 'connect');
    assert.equal((await ask(port, '/')).body, 'done'); // By now the first connection has been taken, too.
    const closed = once(socket, 'close');
    await server.stop(new AbortController().signal);
    await closed;
  });

  it('finishes the request in hand before it has stopped, and takes no new connection meanwhile', async (t) => {
    const { port, server, started, release } = await listenAndHold(t);
    const answered = ask(port, '/', { headers: { connection: 'keep-alive' } });
    await started.promise;
    let stopped = false;
    const stopping = server.stop(new AbortController().signal).then(() => (stopped = true));
    await assert.rejects(ask(port, '/'), { code: 'ECONNREFUSED' });
    assert.equal(stopped, false);
    release.resolve();
    const { body, headers } = await answered;
    assert.equal(body, 'done');
    assert.equal(headers.connection, 'close');
    await stopping;
  });

  it('cuts off requests in hand when the deadline comes', async (t) => {
    const started = deferred();
    const { port, server } = await listen(t, {
      handle: async () => started.resolve(),
    });
    const answered = assert.rejects(ask(port, '/'), { code: 'ECONNRESET' });
    await started.promise;
    const deadline = new AbortController();
    const stopping = server.stop(deadline.signal);
    deadline.abort();
    await stopping;
    await answered;
  });

  it('refuses upgrades while it finishes the request in hand', async (t) => {
    const started = deferred();
    const { port, server } = await listen(t, {
      handle: async () => started.resolve(),
      upgrade: () => assert.fail('upgraded'),
    });
    const late = connect(port, 'localhost');
    await once(late, 'connect');
    const answered = assert.rejects(ask(port, '/'), { code: 'ECONNRESET' });
    await started.promise;
    const deadline = new AbortController();
    const stopping = server.stop(deadline.signal);
    late.write(UPGRADE);
    assert.match(await text(late), /^HTTP\/1\.1 503 /);
    deadline.abort();
    await stopping;
    await answered;
  });

  it('can refuse upgrades for good, with a Retry-After, and go on answering requests', async (t) => {
    const { port, server } = await listen(t, { handle: done, upgrade: () => assert.fail('upgraded') });
    server.refuseUpgrades();
    const client = connect(port, 'localhost');
    client.write(UPGRADE);
    assert.match(
      await text(client),
      /^HTTP\/1\.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n/,
    );
    const { body, headers } = await ask(port, '/', { headers: { connection: 'keep-alive' } });
    assert.equal(body, 'done');
    assert.equal(headers.connection, 'close');
  });

  it('can leave new connections to others and go on with those it has', async (t) => {
    const { port, server, started, release } = await listenAndHold(t);
    const answered = ask(port, '/');
    await started.promise;
    server.stopListening();
    await assert.rejects(ask(port, '/'), { code: 'ECONNREFUSED' });
    release.resolve();
    assert.equal((await answered).body, 'done');
    await server.stop(new AbortController().signal);
  });

  it('keeps an upgraded socket open however long it is silent', async (t) => {
    const taken = deferred<Duplex>();
    const { port } = await listen(t, { handle: done, upgrade: (_request, socket) => taken.resolve(socket) });
    const client = connect(port, 'localhost');
    client.write(UPGRADE);
    const socket = (await taken.promise) as Socket;
    assert.equal(socket.timeout, 0);
    socket.end();
    await text(client);
  });

  it('stops without waiting for upgraded sockets, and leaves them open', async (t) => {
    const taken = deferred<Duplex>();
    const { port, server } = await listen(t, {
      handle: done,
      upgrade: (_request, socket) => taken.resolve(socket),
    });
    const client = connect(port, 'localhost');
    client.write(UPGRADE);
    const socket = await taken.promise;
    await server.stop(new AbortController().signal);
    socket.end('still here');
    assert.equal(await text(client), 'still here');
  });
});
