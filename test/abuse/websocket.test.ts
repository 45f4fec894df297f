import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import test, { type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { embedGateway } from '../helpers/embedded-gateway.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { connect, connectAndInit, subscribeMessage, type RawSocket } from '../helpers/raw-socket.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { connectSome, startItems, untilNumber } from './arrange.ts';

const ITEM = 'subscription { item { id n } }';

const complete = (id: string) => ({ type: 'complete', id });

const embedded = sharedGateway((scope) => startItems(scope, { CHANNEL_LINGER_MS: '0' }));

/** A subscriber that must not notice what other clients do. */
async function bystander(t: TestContext, gateway: GatewayProcess) {
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  socket.subscribe('by', ITEM);
  await gateway.untilMetric('sluice_subscribers', 1);
  return async () => {
    const n = Math.floor(Math.random() * 1e9);
    await gateway.postEvent('items', { id: 1, n });
    await untilNumber(socket, n);
  };
}

const NO_TEXT = Buffer.from([0x22, 0xff, 0x22]);

/** What is sent as text if it is no buffer. */
const CLOSES: readonly (readonly [what: string, code: number, ...messages: unknown[]])[] = [
  ['text that is not JSON', 4400, '{'],
  ['JSON that is no object', 4400, '"ping"'],
  ['a binary frame that is not JSON', 4400, Buffer.from('{')],
  ['a binary frame that is no text', 1007, NO_TEXT],
  ['more bytes than one message may have, in a binary frame', 1009, Buffer.alloc(70_000, ' ')],
  ['more bytes than one message may have', 1009, subscribeMessage('1', `#${'x'.repeat(70_000)}`)],
  ['a type that the protocol does not have', 4400, { type: 'hello' }],
  ['a subscribe without a query', 4400, { type: 'subscribe', id: '1', payload: {} }],
  ['a subscribe without an id', 4400, { type: 'subscribe', payload: { query: ITEM } }],
  ['variables that are a list', 4400, subscribeMessage('1', ITEM, [] as unknown as Record<string, unknown>)],
  ['a second connection_init', 4429, { type: 'connection_init' }],
  ['an id that is in use', 4409, subscribeMessage('1', ITEM), subscribeMessage('1', ITEM)],
];

test('a bad message closes the connection that sent it with the right code, and no other connection', async (t) => {
  const gateway = await embedded();
  const checkBystander = await bystander(t, gateway);
  const check = async (what: string, code: number, send: (socket: RawSocket) => void): Promise<void> => {
    const socket = await connectAndInit(t, gateway.graphqlUrl);
    send(socket);
    const closed = await socket.closed;
    assert.equal(closed.code, code, what);
    assert.notEqual(closed.reason, '', what);
    if (code === 1009) assert.match(closed.reason, /at most 65536 bytes \(MAX_PAYLOAD_BYTES\)/);
    await checkBystander();
  };
  for (const [what, code, ...messages] of CLOSES) {
    await check(what, code, (socket) => {
      for (const one of messages) {
        if (Buffer.isBuffer(one)) socket.webSocket.send(one);
        else socket.send(one);
      }
    });
  }
  await check('a text frame that is no text', 1007, ({ webSocket }) =>
    webSocket.send(NO_TEXT, { binary: false }),
  );
  await check('a frame that is not masked', 1002, ({ webSocket }) => webSocket.send('{}', { mask: false }));
  await check('more frames than a message may have', 1008, ({ webSocket }) => {
    for (let frames = 0; frames < 300; frames += 1) webSocket.send('[', { fin: false });
  });
  for (const [code, reason] of [
    [1002, 'bad_frame'],
    [1007, 'not_text'],
    [1008, 'too_many_frames'],
    [1009, 'too_large'],
  ] as const)
    assert.ok((await gateway.metric(`sluice_closes_total{code="${code}",reason="${reason}"}`)) > 0, reason);
  await gateway.untilMetric('sluice_connections', 1);
  await gateway.untilMetric('sluice_subscribers', 1);
});

test('a client that sends no connection_init is closed with 4408, one that subscribes before it with 4401', async (t) => {
  const gateway = await startItems(t, { CHANNEL_LINGER_MS: '0', INIT_TIMEOUT_MS: '50' });
  const silent = await connect(t, gateway.graphqlUrl);
  assert.equal((await silent.closed).code, 4408);
  const hasty = await connect(t, (await embedded()).graphqlUrl);
  hasty.subscribe('1', ITEM);
  assert.equal((await hasty.closed).code, 4401);
});

test('an operation gets nothing of the one that had its id before, which a slow resolver holds up', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': `type Query { slow(n: Int!): Int }\ntype Mutation { release: Int }\n${itemSchema('items')}`,
    'graph.js': `
      import { defineGraph } from 'sluice';
      const waiting = [];
      export default defineGraph({
        resolvers: {
          Query: {
            slow: (_root, { n }) => new Promise((resolve, reject) => waiting.push(() => n < 0 ? reject(new Error('late')) : resolve(n))),
          },
          Mutation: { release: () => waiting.splice(0).map((release) => release()).length },
          Item: { n: (item) => new Promise((resolve) => waiting.push(() => resolve(item.n))) },
        },
      });`,
  });
  const gateway = await embedGateway(t, { GRAPH: folder, CHANNEL_LINGER_MS: '0' });
  const [socket, other] = (await connectSome(t, gateway, 2)) as [RawSocket, RawSocket];
  let releases = 0;
  /** Releases so many resolvers, once there are so many. */
  const release = async (wanted: number): Promise<void> => {
    for (let released = 0; released < wanted;) {
      const id = `release-${(releases += 1)}`;
      other.subscribe(id, 'mutation { release }');
      const { payload } = await other.until((message) => message.id === id && message.type === 'next');
      released += (payload as { data: { release: number } }).data.release;
    }
  };
  socket.subscribe('q', '{ slow(n: 1) }');
  socket.subscribe('e', '{ slow(n: -1) }');
  socket.subscribe('s', ITEM);
  await gateway.untilMetric('sluice_subscribers', 1);
  await gateway.postEvent('items', { id: 1, n: 1 });
  await socket.roundTrip();
  socket.sendTogether(
    complete('q'),
    subscribeMessage('q', '{ slow(n: 2) }'),
    complete('e'),
    subscribeMessage('e', '{ slow(n: 3) }'),
    complete('s'),
    subscribeMessage('s', 'subscription { item { id } }'),
  );
  await socket.roundTrip();
  await release(5);
  await gateway.postEvent('items', { id: 2 });
  await socket.until(({ id, type }) => id === 's' && type === 'next');
  await socket.until(({ id, type }) => id === 'q' && type === 'complete');
  await socket.until(({ id, type }) => id === 'e' && type === 'complete');
  const of = (wanted: string): unknown[] =>
    socket.messages.filter(({ id }) => id === wanted).map(({ type, payload }) => payload ?? type);
  assert.deepEqual(of('q'), [{ data: { slow: 2 } }, 'complete']);
  assert.deepEqual(of('e'), [{ data: { slow: 3 } }, 'complete']);
  assert.deepEqual(of('s'), [{ data: { item: { id: '2' } } }]);
});

test('queries that are completed in the segment in which they come are not executed, so they pass no limit', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': `type Query { slow: Int begun: Int }\n${itemSchema('items')}`,
    'graph.js': `
      import { defineGraph } from 'sluice';
      let begun = 0;
      export default defineGraph({
        resolvers: { Query: { slow: () => ((begun += 1), new Promise(() => {})), begun: () => begun } },
      });`,
  });
  const gateway = await embedGateway(t, { GRAPH: folder, MAX_OPERATIONS: '2' });
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  const pairs = Array.from({ length: 100 }, (_, index) => [
    subscribeMessage(`q${index}`, '{ slow }'),
    complete(`q${index}`),
  ]);
  socket.sendTogether(...pairs.flat(), subscribeMessage('q0', '{ slow }'));
  await socket.roundTrip();
  socket.subscribe('count', '{ begun }');
  const { payload } = await socket.until(({ id, type }) => id === 'count' && type === 'next');
  assert.deepEqual(payload, { data: { begun: 1 } });
  assert.deepEqual(
    socket.messages.filter(({ id }) => id?.startsWith('q')),
    [],
  );
});

test('10,000 times complete and subscribe in one segment pass no limit, and leave nothing behind', async (t) => {
  const gateway = await startItems(t, {
    CHANNEL_LINGER_MS: '0',
    MAX_OPERATIONS: '2',
    MESSAGES_PER_SECOND: '100000',
    SUBSCRIBES_PER_SECOND: '100000',
  });
  const checkBystander = await bystander(t, gateway);
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  socket.subscribe('1', ITEM);
  await gateway.untilMetric('sluice_subscribers', 2);
  const pair = [complete('1'), subscribeMessage('1', ITEM)];
  socket.sendTogether(...Array.from({ length: 10_000 }, () => pair).flat());
  // Either all are handled in turn, or more wait than may.
  await socket.roundTrip().catch(() => undefined);
  if (socket.webSocket.readyState === WebSocket.OPEN) await gateway.untilMetric('sluice_subscribers', 2);
  else assert.equal((await socket.closed).code, 1008);
  assert.deepEqual(
    socket.messages.filter(({ type }) => type === 'error' || type === 'complete'),
    [],
  );
  await checkBystander();
  socket.webSocket.terminate();
  await gateway.untilMetric('sluice_subscribers', 1);
  await gateway.untilMetric('sluice_groups', 1);
  await gateway.untilMetric('sluice_connections', 1);
});

test('sockets that vanish in any state leave nothing behind', async (t) => {
  const gateway = await embedded();
  for (let index = 0; index < 20; index += 1) {
    const socket = await (index % 2 === 0 ? connect : connectAndInit)(t, gateway.graphqlUrl);
    for (let id = 0; id < index % 5; id += 1) socket.subscribe(String(id), ITEM);
    socket.webSocket.terminate();
  }
  const halfOpen = connectTcp(gateway.port, '127.0.0.1');
  await once(halfOpen, 'connect');
  halfOpen.write('GET /graphql HTTP/1.1\r\nUpgrade: websocket\r\n');
  halfOpen.destroy();
  await gateway.untilMetric('sluice_connections', 0);
  await gateway.untilMetric('sluice_groups', 0);
  await gateway.untilMetric('sluice_channels', 0);
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  await socket.roundTrip();
});

test('a client that stops answering pings is disconnected, one that answers stays connected', async (t) => {
  const gateway = await startItems(t, { CHANNEL_LINGER_MS: '0', PING_SECONDS: '3' });
  const deaf = await connect(t, gateway.graphqlUrl, { autoPong: false });
  deaf.send({ type: 'connection_init' });
  const lively = await connectAndInit(t, gateway.graphqlUrl);
  assert.equal((await deaf.closed).code, 1006);
  await gateway.untilMetric('sluice_connections', 1);
  await lively.roundTrip();
});

test('a client that sends more than its share for two pings is told so, with a code', async (t) => {
  const settings = { PING_SECONDS: '1', MESSAGES_PER_SECOND: '1', SUBSCRIBES_PER_SECOND: '1' };
  const gateway = await startItems(t, { CHANNEL_LINGER_MS: '0', ...settings });
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  socket.sendTogether(...Array.from({ length: 100 }, () => ({ type: 'ping' })));
  assert.equal((await socket.closed).code, 1008);
});

test('a large message in small packets is read', async (t) => {
  const gateway = await embedded();
  const checkBystander = await bystander(t, gateway);
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  const { _socket: stream } = socket.webSocket as unknown as { _socket: Duplex };
  const message = textFrame(JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(60_000) } }));
  for (let at = 0; at < message.length; at += 1_400) await written(stream, message.subarray(at, at + 1_400));
  await socket.until(({ type }) => type === 'pong');
  await checkBystander();
});

test('the gateway answers a WebSocket ping with the bytes of the ping', async (t) => {
  const { webSocket } = await connectAndInit(t, (await embedded()).graphqlUrl);
  const pong = once(webSocket, 'pong');
  webSocket.ping('are you there?');
  assert.equal(String((await pong)[0]), 'are you there?');
});

/** Resolves once the operating system has the bytes. */
const written = (stream: Duplex, bytes: Buffer): Promise<void> =>
  new Promise((resolve) => void stream.write(bytes, () => resolve()));

/** A text frame of a client, masked with zeros. */
function textFrame(text: string): Buffer {
  const head = Buffer.from([0x81, 0xfe, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16BE(Buffer.byteLength(text), 2);
  return Buffer.concat([head, Buffer.from(text)]);
}
