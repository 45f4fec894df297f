import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { connect as connectSecure } from 'node:tls';
import { selfSigned } from '../../helpers/certificate.ts';
import { fileScope } from '../../helpers/scope.ts';
import { certificateIn, dial, done, listen, upgradeRequest, type ListenOptions } from './serve.ts';

const GET = 'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
const PROXY = 'PROXY TCP4 198.51.100.1 10.0.0.1 1 2\r\n';

/** After this time a connection without a request is closed in any case: ms. */
const MOST_MS = 120_000;

const pair = selfSigned(fileScope());

async function serve(t: TestContext, options: Partial<ListenOptions>) {
  const { port } = await listen(t, { handle: done, maxSockets: 10, ...options });
  return { port, open: (sent = ''): Socket => dial(t, port, sent) };
}

describe('connections whose first request has not come', () => {
  for (const [what, bytes, options] of [
    ['nothing', '', {}],
    ['a part of a request', GET.slice(0, -1), {}],
    ['a header of the PROXY protocol', PROXY, { proxyProtocol: { isTrusted: () => true, refused: () => 0 } }],
  ] as const) {
    it(`are closed for others, if their clients have sent ${what} for a second`, async (t) => {
      const { open } = await serve(t, options);
      const sockets = Array.from({ length: 10 }, () => open(bytes));
      // A reset, where bytes have not been read. At a timeout of its own the server responds with 408.
      const received = sockets.map((socket) => text(socket).catch(() => ''));
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      const header = 'proxyProtocol' in options ? PROXY : '';
      let answer = '';
      // Those that find no room are dropped, and have it made.
      while (answer === '') answer = await text(open().end(header + GET)).catch(() => '');
      assert.match(answer, /done/);
      assert.equal(await Promise.race(received), '');
    });
  }

  it('are none of those whose request came over TLS, be it of HTTP/2 or an upgrade', async (t) => {
    const certificate = certificateIn(await pair);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { port, open } = await serve(t, {
      certificate,
      upgrade: (_request, socket) => {
        socket.write('upgraded');
        socket.pipe(socket);
      },
    });
    const upgraded = connectSecure({ port, host: '127.0.0.1', rejectUnauthorized: false });
    t.after(() => upgraded.destroy());
    upgraded.write(upgradeRequest('/'));
    await once(upgraded, 'data');
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    t.after(() => session.destroy());
    const ask = () => text(session.request({ ':path': '/' }));
    assert.equal(await ask(), 'done');
    const never = open();
    await once(never, 'connect');
    const closed = once(never.resume(), 'close');

    const now = performance.now() + MOST_MS;
    t.mock.method(performance, 'now', () => now);
    t.mock.timers.tick(MOST_MS);
    await closed;
    upgraded.end('echo');
    assert.equal(await text(upgraded), 'echo');
    assert.equal(await ask(), 'done');
  });
});
