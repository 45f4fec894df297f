import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import type { Scope } from '../helpers/scope.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { range } from '../helpers/numbers.ts';
import { connectSome, numbersOf, untilNumber } from './arrange.ts';

const TEXT = 'subscription { said { n text } }';
const TOO_SLOW = 'sluice_closes_total{code="1013",reason="too_slow"}';
const SCHEMA = `
  type Subscription { said: Said @event(topic: "items") }
  type Said { n: Int text: String }
`;

async function start(scope: Scope, bufferBytes: number, settings = {}): Promise<GatewayProcess> {
  const folder = await graphFolder(scope, { 'schema.graphql': SCHEMA });
  return startGateway(scope, { GRAPH: folder, SOCKET_BUFFER_BYTES: String(bufferBytes), ...settings });
}

const small = sharedGateway((scope) => start(scope, 16_384, { PING_SECONDS: '0' }));

const say = (gateway: GatewayProcess, n: number, size: number): Promise<void> =>
  gateway.postEvent('items', { n, text: 'x'.repeat(size) });

test('a socket whose client stops reading is closed as too slow; the others get every event, in order', async (t) => {
  const gateway = await small();
  const readers = await connectSome(t, gateway, 3);
  const stalled = await connectAndInit(t, gateway.graphqlUrl);
  for (const [index, socket] of [...readers, stalled].entries()) socket.subscribe(`s${index}`, TEXT);
  await gateway.untilMetric('sluice_subscribers', 4);
  stalled.webSocket.pause();
  let sent = 0;
  // The kernel takes some megabytes before anything waits in the gateway.
  while ((await gateway.metric(TOO_SLOW)) === 0) {
    assert.ok(sent < 2_000, 'expected the stalled socket to end');
    for (let more = 0; more < 20; more += 1) await say(gateway, sent++, 20_000);
  }
  await gateway.untilMetric('sluice_connections', 3);
  await gateway.untilMetric('sluice_subscribers', 3);
  await say(gateway, sent++, 1);
  for (const reader of readers) {
    await untilNumber(reader, sent - 1);
    assert.deepEqual(numbersOf(reader), range(0, sent));
  }
  assert.equal(await gateway.metric('sluice_closes_total'), 1);
  stalled.webSocket.resume();
  // 1013 if it reads within the second that it has, else it finds the connection gone.
  const { code } = await stalled.closed;
  assert.ok(code === 1013 || code === 1006, `${code}`);
});

test('a client that reads on in time misses no event, and messages of the protocol come after the events', async (t) => {
  const gateway = await start(t, 64 * 1024 * 1024);
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  socket.subscribe('1', TEXT);
  socket.subscribe('2', TEXT);
  await gateway.untilMetric('sluice_subscribers', 2);
  socket.webSocket.pause();
  const count = 150;
  for (let n = 0; n < count; n += 1) await say(gateway, n, 40_000);
  // The server reads what the client says, though the client does not read.
  socket.send({ type: 'complete', id: '1' }, { type: 'ping' });
  await gateway.untilMetric('sluice_subscribers', 1);
  socket.webSocket.resume();
  await socket.until(({ type }) => type === 'pong');
  for (const id of ['1', '2']) assert.deepEqual(numbersOf(socket, id), range(0, count));
  assert.equal(socket.messages.at(-1)?.type, 'pong');
  assert.equal(await gateway.metric('sluice_closes_total'), 0);
});

test('the gateway answers a WebSocket ping with the bytes of the ping', async (t) => {
  const gateway = await small();
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  const pong = once(socket.webSocket, 'pong');
  socket.webSocket.ping('are you there?');
  const [data] = (await pong) as [Buffer];
  assert.equal(data.toString(), 'are you there?');
});
