import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { constants, deflateRawSync, gzipSync } from 'node:zlib';
import { messagesOf } from '../../loadtest/clients/transports.ts';
import type { Transport } from '../../loadtest/report/report.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n';
const EVENTS = [
  ':\n\n',
  'event: next\nid: 1.a.b\ndata: {"data":{"n":1}}\n\n',
  'event: next\ndata: {"data":{"n":2}}\n\n',
];

/** The bytes of gzip, each as one character: the header, and blocks that end with each text. */
const packed = (texts: readonly string[]): string[] =>
  texts.map((text, index) => {
    const blocks = deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1');
    return index === 0 ? gzipSync('').toString('latin1', 0, 10) + blocks : blocks;
  });

const BODIES: Partial<Record<Transport, readonly string[]>> = {
  'server-sent events': EVENTS,
  'server-sent events, compressed': packed(EVENTS),
  multipart: [
    '\r\n--graphql',
    '\r\ncontent-type: application/json\r\n\r\n{"payload":{"data":{"n":1}}}\r\n--graphql',
    '\r\ncontent-type: application/json\r\n\r\n{}\r\n--graphql',
    '\r\ncontent-type: application/json\r\n\r\n{"payload":{"data":{"n":2}}}\r\n--graphql',
  ],
};

/** What the load test's client reads of a response that comes in pieces of so many bytes. */
async function read(
  t: TestContext,
  transport: Transport,
  bodies: readonly string[],
  piece: number,
): Promise<unknown[]> {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const endpoint = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  const seen: unknown[] = [];
  const messages = messagesOf(transport);
  const ended = new Promise<string>((resolve) => {
    const receiver = {
      acknowledged: () => seen.push('acknowledged'),
      text: (bytes: Buffer, start: number, end: number) =>
        seen.push(messages.read(bytes.toString('utf8', start, end))?.payload),
      ended: resolve,
    };
    messages.connect(endpoint, '127.0.0.1', receiver, '1', { query: 'subscription { n }' });
  });
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [request] = (await once(socket, 'data')) as [Buffer];
  assert.match(request.toString(), /^POST \/graphql HTTP\/1\.1\r\n.*\{"query":"subscription \{ n \}"\}$/s);
  socket.setNoDelay(true);
  const coding = transport.endsWith('compressed') ? 'content-encoding: gzip\r\n' : '';
  const response =
    `${HEAD}${coding}\r\n` + bodies.map((body) => `${body.length.toString(16)}\r\n${body}\r\n`).join('');
  for (let at = 0; at < response.length; at += piece) {
    await new Promise((resolve) => socket.write(response.slice(at, at + piece), 'latin1', resolve));
  }
  socket.end();
  assert.equal(await ended, 'terminated');
  return seen;
}

for (const [transport, bodies] of Object.entries(BODIES)) {
  for (const piece of [1, 7, 10_000]) {
    test(`results over ${transport} are read as a whole, in pieces of ${piece} bytes`, async (t) => {
      const [first, ...seen] = await read(t, transport as Transport, bodies, piece);
      assert.equal(first, 'acknowledged');
      assert.equal(seen.length, bodies.length);
      const results = seen.filter((payload) => payload !== undefined);
      assert.deepEqual(results, [{ data: { n: 1 } }, { data: { n: 2 } }]);
    });
  }
}
