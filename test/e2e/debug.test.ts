import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { startItems } from './graph-gateway.ts';

const QUERY = 'subscription Watch($id: [ID!]) { item(id: $id) { n } }';

interface Inspection {
  readonly sockets: {
    readonly count: number;
    readonly waitingBytes: number;
    readonly slowest: readonly { readonly waitingBytes: number; readonly operations: number }[];
  };
  readonly groups: { readonly count: number };
  readonly channels: { readonly count: number };
}

test('the state of the hub shows what subscribers have asked for, and for which sockets bytes wait', async (t) => {
  const gateway = await startItems(t, {
    SOCKET_BUFFER_BYTES: '100000000',
    MAX_PAYLOAD_BYTES: '1000000',
    PING_SECONDS: '0',
  });
  const inspect = () => gateway.debug<Inspection>('hub');
  for (let n = 0; n < 3; n += 1) {
    (await connectAndInit(t, gateway.graphqlUrl)).subscribe('1', QUERY, { id: ['7'] });
  }
  await gateway.untilMetric('sluice_subscribers', 3);
  const stalled = await connectAndInit(t, gateway.graphqlUrl);
  stalled.subscribe('1', 'subscription { expensive_item(min_price: 5) { seller_name } }');
  await gateway.untilMetric('sluice_subscribers', 4);

  const { sockets, groups, channels } = await inspect();
  assert.deepEqual(sockets, {
    count: 4,
    handshakes: 0,
    operations: 4,
    viewers: 0,
    waitingBytes: 0,
    slowest: [],
  });
  assert.deepEqual([groups.count, channels.count], [2, 2]);

  stalled.webSocket.pause();
  // More than the system takes off the gateway's hands.
  for (let n = 0; n < 40; n += 1)
    await gateway.postEvent('items', { id: 7, price: 5, sellerName: 'x'.repeat(400_000) });
  const waiting = await eventually(async () => {
    const { sockets: now } = await inspect();
    assert.ok(now.waitingBytes > 1_000_000, `${now.waitingBytes} bytes wait`);
    return now;
  });
  assert.equal(waiting.slowest.length, 1);
  assert.deepEqual(waiting.slowest[0], { waitingBytes: waiting.waitingBytes, operations: 1 });
});
