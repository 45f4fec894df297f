import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, it, type TestContext } from 'node:test';
import { listen, upgradeRequest } from './serve.ts';

const HEADER = 'PROXY TCP4 198.51.100.1 10.0.0.1 56324 443\r\n';
const LOCAL = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex');
const POST = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n';
const LAST = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
const UPGRADE = upgradeRequest('/');

async function serve(t: TestContext, isTrusted = true, timeoutMs = 60_000) {
  let refused = 0;
  const { port } = await listen(t, {
    handle: async (request, response) => {
      response.end(`[${request.socket.remoteAddress} sent ${await text(request)}]`);
    },
    upgrade: (request, socket, head) => {
      socket.write(`[${request.socket.remoteAddress} upgraded with ${head.toString()}]`);
      socket.pipe(socket);
    },
    proxyProtocol: { isTrusted: () => isTrusted, refused: () => (refused += 1), timeoutMs },
  });
  /** Sends these one after the other, each in a packet of its own, and ends. */
  const say = async (...packets: (string | Buffer)[]): Promise<string> => {
    const socket = connect(port, '127.0.0.1').setNoDelay();
    const heard = text(socket);
    for (const packet of packets) {
      await new Promise((resolve) => socket.write(packet, resolve));
      await nextTurn();
    }
    socket.end();
    return heard;
  };
  return { port, say, refused: () => refused };
}

describe('the PROXY protocol', () => {
  it('says whose connection it is, for all requests on it', async (t) => {
    const { say } = await serve(t);
    for (const packets of [
      [HEADER, POST, 'body', LAST],
      [`${HEADER}${POST}body${LAST}`],
      [HEADER.slice(0, 20), `${HEADER.slice(20)}${POST}`, `body${LAST}`],
      [...`${HEADER}${POST}body${LAST}`],
    ]) {
      const heard = await say(...packets);
      assert.match(heard, /\[198\.51\.100\.1 sent body\][^]*\[198\.51\.100\.1 sent \]/);
    }
  });

  it('lets the proxy itself connect, as its health checks do', async (t) => {
    const { say } = await serve(t);
    assert.match(await say(LOCAL, LAST), /\[(::ffff:)?127\.0\.0\.1 sent \]/);
    assert.match(await say(Buffer.concat([LOCAL, Buffer.from(LAST)])), /\[(::ffff:)?127\.0\.0\.1 sent \]/);
  });

  it('lets connections be upgraded', async (t) => {
    const { say } = await serve(t);
    assert.equal(await say(`${HEADER}${UPGRADE}first`), '[198.51.100.1 upgraded with first]');
    // In one read with the request, or in the next one.
    assert.match(await say(HEADER, UPGRADE, 'later'), /^\[198\.51\.100\.1 upgraded with (\]later|later\])$/);
  });

  it('closes connections that begin with anything else, or with nothing', async (t) => {
    const { say, refused } = await serve(t);
    assert.equal(await say(LAST), '');
    assert.equal(await say(`PROXY TCP4 me you 1 2\r\n${LAST}`), '');
    assert.equal(await say(HEADER.slice(0, 20)), '');
    assert.equal(await say(), '');
    assert.equal(refused(), 4);
  });

  // Node.js's own socket is the point, so the time that a header may take is short, and real.
  for (const [what, isTrusted, sent] of [
    ['of peers that are no trusted proxies', false, `${HEADER}${LAST}`],
    ['whose header does not come', true, HEADER.slice(0, 20)],
  ] as const) {
    it(`closes connections ${what}`, async (t) => {
      const { port, refused } = await serve(t, isTrusted, 20);
      const socket = connect(port, '127.0.0.1').resume();
      socket.on('error', () => undefined);
      socket.write(sent);
      await once(socket, 'close');
      assert.equal(refused(), 1);
    });
  }
});
