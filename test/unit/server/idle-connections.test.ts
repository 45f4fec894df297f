import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { dial, listen } from './serve.ts';
import { deferred } from '../../helpers/deferred.ts';

const GET = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n';
const HELD = GET.replace('/', '/held');
const LAST = GET.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n');
const UPGRADE = GET.replace('\r\n\r\n', '\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');

/** Before keep-alive ends by itself, after 65 seconds. */
const closedSoon = (socket: Socket): Promise<unknown> =>
  once(socket, 'close', { signal: AbortSignal.timeout(60_000) });

/** A server that echoes on upgraded sockets, and answers `/held` when it is released. */
async function serve(t: TestContext, maxSockets: number, header = '') {
  const [held, release] = [deferred(), deferred()];
  let dropped = 0;
  const { port } = await listen(t, {
    handle: async (request, response) => {
      held.resolve();
      if (request.url === '/held') await release.promise;
      response.end('answered');
    },
    upgrade: (_request, socket) => {
      socket.write('upgraded');
      socket.pipe(socket);
    },
    maxSockets,
    dropped: () => (dropped += 1),
    ...(header !== '' && {
      proxyProtocol: { isTrusted: () => true, refused: () => assert.fail('expected no refusal, got one') },
    }),
  });
  const open = (request: string): Socket => dial(t, port, header + request);
  /** A connection with the first bytes that come for this request; it stays open. */
  const begin = async (request: string): Promise<Socket> => {
    const socket = open(request);
    await once(socket, 'data');
    return socket.resume();
  };
  const ask = (): Promise<string> => text(open(LAST));
  return { open, begin, ask, held: held.promise, release: release.resolve, dropped: () => dropped };
}

describe('connections that are kept alive between requests', () => {
  for (const [what, header] of [
    ['', ''],
    [' behind the PROXY protocol', 'PROXY TCP4 198.51.100.1 10.0.0.1 1 2\r\n'],
  ]) {
    it(`are closed before they keep others out${what}`, async (t) => {
      const { begin, ask, dropped } = await serve(t, 20, header);
      const idle = await Promise.all(Array.from({ length: 19 }, () => begin(GET)));
      const closed = Promise.all(idle.map(closedSoon));
      assert.match(await ask(), /answered/);
      await closed;
      assert.equal(dropped(), 0);
    });
  }

  it('stay open as long as there is room', async (t) => {
    const { begin, ask } = await serve(t, 20);
    const idle = await Promise.all(Array.from({ length: 18 }, () => begin(GET)));
    assert.match(await ask(), /answered/);
    for (const socket of idle) {
      socket.write(GET);
      assert.match(String((await once(socket, 'data'))[0]), /answered/);
    }
  });

  it('are closed also if they have become idle since the last connection was taken', async (t) => {
    const { open, ask, held, release } = await serve(t, 1);
    const socket = open(HELD);
    await held;
    release();
    await once(socket, 'data');
    const closed = closedSoon(socket.resume());
    await ask().catch(() => ''); // Dropped: for it the room is made.
    await closed;
    assert.match(await ask(), /answered/);
  });
});

describe('connections of a server that is nearly full', () => {
  it('stay open if they are upgraded, or have a request in hand', async (t) => {
    const { open, begin, ask, held, release } = await serve(t, 4);
    const upgraded = await begin(UPGRADE);
    const asking = open(HELD);
    await held;
    const idle = await begin(GET);
    const closed = closedSoon(idle);
    assert.match(await ask(), /answered/);
    await closed;
    release();
    assert.match(String((await once(asking, 'data'))[0]), /answered/);
    upgraded.write('echo');
    assert.equal(String((await once(upgraded, 'data'))[0]), 'echo');
  });
});
