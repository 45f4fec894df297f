import assert from 'node:assert/strict';
import test from 'node:test';
import { startItems } from '../e2e/graph-gateway.ts';
import { upTo } from '../helpers/numbers.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { connectSome, numbersOf, untilNumber } from './arrange.ts';

const ITEM = 'subscription ($id: [ID!]) { item(id: $id) { n } }';

/** Part of the pod that deploy/ ships, and of a thousand hostile clients. */
const SCALE = 16;
const CLIENTS = Math.round(1_000 / SCALE);

/** MB: half of the container's memory, of which the gateway itself takes so much, however large it is. */
const SHIPPED_HEAP = 512;
const OWN_HEAP = 40;
const HEAP = Math.round(OWN_HEAP + (SHIPPED_HEAP - OWN_HEAP) / SCALE);

/** The defaults of what a pod may hold. */
const CAPS = {
  MAX_CHANNELS_PER_POD: String(Math.round(50_000 / SCALE)),
  MAX_OPERATIONS_PER_POD: String(Math.round(100_000 / SCALE)),
  MAX_VARIABLES_BYTES_PER_POD: String(Math.round(33_554_432 / SCALE)),
};

/** Takes as many channels as a connection may have, in subscriptions that stay, and in others that it ends at once. */
async function attack(socket: RawSocket, name: string): Promise<void> {
  const keys = (round: string) => Array.from({ length: 20 }, (_, index) => `${name}-${round}-${index}`);
  for (let round = 0; round < 60; round += 1) {
    socket.subscribe(`stays-${round}`, ITEM, { id: keys(`stays-${round}`) });
  }
  await socket.roundTrip();
  for (let round = 0; round < 40; round += 1) {
    socket.subscribe(`leaves-${round}`, ITEM, { id: keys(`leaves-${round}`) });
    socket.send({ type: 'complete', id: `leaves-${round}` });
  }
  await socket.roundTrip();
}

test('hostile clients within all caps neither end a pod nor keep events from others', async (t) => {
  const gateway = await startItems(t, {
    NODE_OPTIONS: `--max-old-space-size=${HEAP} --max-semi-space-size=16`,
    PING_SECONDS: '0',
    ...CAPS,
  });
  const bystander = await connectAndInit(t, gateway.graphqlUrl);
  bystander.subscribe('by', ITEM, { id: ['1'] });
  await gateway.untilMetric('sluice_subscribers', 1);
  let sent = 0;
  const checkBystander = async (): Promise<void> => {
    const n = (sent += 1);
    await gateway.postEvent('items', { id: '1', n });
    await untilNumber(bystander, n);
  };
  const hostile = await connectSome(t, gateway, CLIENTS);
  const attacks = Promise.all(hostile.map((socket, index) => attack(socket, `${index}`)));
  await checkBystander();
  await attacks;
  await checkBystander();
  assert.ok((await gateway.metric('sluice_channels')) <= Number(CAPS.MAX_CHANNELS_PER_POD));
  assert.ok((await gateway.metric('sluice_refusals_total{reason="channels"}')) > 0);
  t.diagnostic(`${sent} events; ${await gateway.metric('nodejs_heap_size_used_bytes')} bytes of heap`);
  for (const { webSocket } of hostile) webSocket.terminate();
  await gateway.untilMetric('sluice_connections', 1);
  const honest = await connectAndInit(t, gateway.graphqlUrl);
  honest.subscribe('1', ITEM, { id: ['a', 'b'] });
  await gateway.untilMetric('sluice_subscribers', 2);
  await checkBystander();
  assert.deepEqual(numbersOf(bystander), upTo(sent));
});
