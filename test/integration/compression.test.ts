import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { constants, createGunzip, deflateRawSync } from 'node:zlib';
import type { ClientOptions } from 'ws';
import { Changes } from '../helpers/changes.ts';
import { embedGateway } from '../helpers/embedded-gateway.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { connect } from '../helpers/raw-socket.ts';
import type { Scope } from '../helpers/scope.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';

const SCHEMA = `
  type Subscription {
    page: Page @event(topic: "pages")
    secret: Page @event(topic: "pages") @delivery(compress: NEVER)
  }
  type Page { n: Int items: [Item!] }
  type Item { name: String n: Int }
`;

const startCompressing = async (scope: Scope): Promise<GatewayProcess> =>
  embedGateway(scope, {
    GRAPH: await graphFolder(scope, { 'schema.graphql': SCHEMA }),
    COMPRESSION_MIN_BYTES: '512',
    CHANNEL_LINGER_MS: '0',
  });

const compressing = sharedGateway(startCompressing);

const pageOf = (n: number) => ({
  n,
  items: Array.from({ length: 40 }, (_, index) => ({ name: `Maple Street ${index}`, n: index * 1_000 })),
});

const PAGE_BYTES = JSON.stringify(pageOf(1)).length;

async function subscribed(t: TestContext, url: string, options: ClientOptions = {}, field = 'page') {
  const socket = await connect(t, url, options);
  socket.send({ type: 'connection_init' });
  await socket.until(({ type }) => type === 'connection_ack');
  const id = `subscription-${Math.random()}`;
  socket.subscribe(id, `subscription { ${field} { n items { name n } } }`);
  await socket.roundTrip();
  const { _socket: stream } = socket.webSocket as unknown as { _socket: Socket };
  return { socket, id, field, bytes: () => stream.bytesRead };
}

type Subscribed = Awaited<ReturnType<typeof subscribed>>;

/** Has an event come to subscribers. @returns the bytes that each has read for it */
async function bytesFor(
  gateway: Pick<GatewayProcess, 'postEvent'>,
  n: number,
  subscribers: readonly Subscribed[],
): Promise<number[]> {
  const before = subscribers.map(({ bytes }) => bytes());
  await gateway.postEvent('pages', pageOf(n));
  return Promise.all(
    subscribers.map(async ({ socket, id, field, bytes }, index) => {
      const { payload } = await socket.until(
        (message) => JSON.stringify(message.payload)?.includes(`"${field}":{"n":${n},`) && message.id === id,
      );
      assert.deepEqual(payload, { data: { [field]: pageOf(n) } });
      return bytes() - (before[index] ?? 0);
    }),
  );
}

test('clients that offer compression read results from a quarter of their bytes, others read them as they are', async (t) => {
  const gateway = await compressing();
  const url = gateway.graphqlUrl;
  const offering = [await subscribed(t, url), await subscribed(t, url)];
  const others = [
    await subscribed(t, url, { perMessageDeflate: false }),
    await subscribed(t, url, { perMessageDeflate: { serverMaxWindowBits: 9 } }),
    await subscribed(t, url, {}, 'secret'),
  ];
  for (const n of [1, 2]) {
    const bytes = await bytesFor(gateway, n, [...offering, ...others]);
    const isShort = bytes.map((one) => (one < PAGE_BYTES / 4 ? 'short' : one > PAGE_BYTES && 'long'));
    assert.deepEqual(isShort, ['short', 'short', 'long', 'long', 'long'], `${bytes.join()} of ${PAGE_BYTES}`);
  }
});

/** A gateway that is stopped before the test's end, or with it. */
async function stoppable(t: TestContext) {
  const cleanups: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  };
  t.after(stop);
  const gateway = await startCompressing({ after: (cleanup) => void cleanups.push(cleanup) });
  return { gateway, stop };
}

/** The body of a response with results, as it comes, and how many bytes of it have come. */
async function streamed(t: TestContext, httpUrl: string, field: string, headers: OutgoingHttpHeaders) {
  const query = `subscription { ${field} { n items { name n } } }`;
  const request = get(`${httpUrl}/graphql?query=${encodeURIComponent(query)}`, { headers });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  t.after(() => response.destroy());
  const isGzip = response.headers['content-encoding'] === 'gzip';
  let bytes = 0;
  response.on('data', (chunk: Buffer) => void (bytes += chunk.length));
  const body = isGzip ? response.pipe(createGunzip()) : response;
  const come = new Changes();
  let text = '';
  body.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    come.emit();
  });
  const untilPage = (n: number) => {
    const expected = JSON.stringify({ data: { [field]: pageOf(n) } });
    return come.until(
      () => text.includes(expected) || undefined,
      () => text.slice(-200),
    );
  };
  const ended = once(body, 'end');
  ended.catch(() => undefined);
  return { isGzip, bytes: () => bytes, untilPage, ended };
}

for (const accept of ['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0'])
  test(`a response of ${accept} has results in a quarter of their bytes where the client accepts gzip`, async (t) => {
    const { gateway, stop } = await stoppable(t);
    const packed = { accept, 'accept-encoding': 'br, GZIP;q=0.5' };
    const open = (field: string, headers: OutgoingHttpHeaders) =>
      streamed(t, gateway.httpUrl, field, headers);
    const page = await open('page', packed);
    const others = [
      await open('secret', packed),
      await open('page', { accept }),
      await open('page', { accept, 'accept-encoding': 'gzip;q=0, identity' }),
    ];
    const all = [page, ...others];
    assert.deepEqual(
      all.map(({ isGzip }) => isGzip),
      [true, true, false, false],
    );
    await gateway.untilMetric('sluice_subscribers', all.length);
    for (const n of [1, 2, 3]) {
      const before = all.map(({ bytes }) => bytes());
      await gateway.postEvent('pages', pageOf(n));
      await Promise.all(all.map(({ untilPage }) => untilPage(n)));
      const isShort = all.map(({ bytes }, index) => bytes() - (before[index] ?? 0) < PAGE_BYTES / 4);
      assert.deepEqual(isShort, [true, false, false, false]);
    }
    // Bodies end in order: what unpacks them compares their checksums and lengths.
    await stop();
    await Promise.all(all.map(({ ended }) => ended));
  });

const ANSWER = 'permessage-deflate; server_no_context_takeover; client_no_context_takeover';

for (const [offer, expected] of [
  ['permessage-deflate; client_max_window_bits', ANSWER],
  ['permessage-deflate', ANSWER],
  ['x-webkit-deflate-frame, permessage-deflate; client_max_window_bits', ANSWER],
  ['permessage-deflate; mux, permessage-deflate', ANSWER],
  [
    'permessage-deflate; mux, permessage-deflate; client_no_context_takeover; client_no_context_takeover',
    undefined,
  ],
  ['permessage-deflate; server_max_window_bits="15', undefined],
  ['permessage-deflate; server_max_window_bits=7', undefined],
  ['x-webkit-deflate-frame', undefined],
  ['permessage-deflate; mux', undefined],
  [';;=', undefined],
] as const)
  test(`the offer ${offer} is ${expected === undefined ? 'not taken' : 'answered without a context'}`, async (t) => {
    const gateway = await compressing();
    const request = get(gateway.graphqlUrl.replace(/^ws/, 'http'), {
      headers: {
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        'sec-websocket-protocol': 'graphql-transport-ws',
        'sec-websocket-extensions': offer,
      },
    });
    request.once('response', ({ statusCode }) => request.emit('error', new Error(`got ${statusCode}`)));
    const [{ headers }, stream] = (await once(request, 'upgrade')) as [IncomingMessage, Socket];
    t.after(() => stream.destroy());
    assert.equal(headers['sec-websocket-extensions'], expected);
  });

test('messages that clients compress are read, in order, also in several frames', async (t) => {
  const gateway = await compressing();
  const { socket } = await subscribed(t, gateway.graphqlUrl, { perMessageDeflate: { threshold: 0 } });
  const marks = Array.from({ length: 20 }, (_, mark) => mark);
  for (const mark of marks) {
    const text = JSON.stringify({ type: 'ping', payload: { mark, text: 'x'.repeat(mark * 100) } });
    if (mark % 2 === 0) socket.webSocket.send(text);
    else {
      socket.webSocket.send(text.slice(0, 20), { fin: false });
      socket.webSocket.ping();
      socket.webSocket.send(text.slice(20));
    }
  }
  await socket.roundTrip();
  const answered = socket.messages.map(({ payload }) => (payload as { mark?: number } | undefined)?.mark);
  assert.deepEqual(
    answered.filter((mark) => Number.isInteger(mark) && mark !== undefined),
    marks,
  );
});

/** A frame of a client, with its mask of zeros. */
function frame(opcode: number, payload: Buffer): Buffer {
  const header = Buffer.from([opcode, 0xfe, 0, 0, 0, 0, 0, 0]);
  header.writeUInt16BE(payload.length, 2);
  return Buffer.concat([header, payload]);
}

/** The payload of a compressed message. */
const deflated = (text: string): Buffer =>
  deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4);

const bomb = deflated(' '.repeat(10 * 1024 * 1024));

for (const [what, code, frames] of [
  ['becomes more than a message may have', 1009, [frame(0xc1, bomb)]],
  [
    'becomes that in several frames',
    1009,
    [frame(0x41, bomb.subarray(0, 9)), frame(0x00, bomb.subarray(9, 99)), frame(0x80, bomb.subarray(99))],
  ],
  ['is not compressed, though it says so', 1007, [frame(0xc1, Buffer.from('{"type":"ping"}'))]],
  ['says so in the middle', 1002, [frame(0x41, deflated('{')), frame(0xc0, deflated('}'))]],
  ['is no JSON', 4400, [frame(0xc1, deflated('{'))]],
] as const)
  test(`a compressed message that ${what} closes its connection with ${code}, and no other one`, async (t) => {
    const gateway = await compressing();
    const other = await subscribed(t, gateway.graphqlUrl);
    const { socket } = await subscribed(t, gateway.graphqlUrl);
    const { _socket: stream } = socket.webSocket as unknown as { _socket: Socket };
    stream.write(Buffer.concat(frames));
    assert.equal((await socket.closed).code, code);
    await bytesFor(gateway, 3, [other]);
  });
