import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { eventually } from '../helpers/eventually.ts';
import { startItems } from '../e2e/graph-gateway.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { startNginx } from '../helpers/nginx.ts';
import { testNeeding } from '../helpers/services.ts';
import { TRANSPORT_CLIENTS } from '../helpers/transport-client.ts';

const test = testNeeding('nginx');

/** Many times as many as two pods admit in a second. */
const ATTEMPTS = 100;
/** More than they have admitted by the time that the last of them has come, on a slow machine too. */
const AT_ONCE = 50;

const QUERY = 'subscription { item { n } }';

/** @returns the status of the answer to a handshake */
async function handshake(t: TestContext, address: string): Promise<number> {
  const webSocket = new WebSocket(`ws://${address}/graphql`, 'graphql-transport-ws');
  t.after(() => webSocket.terminate());
  const refusal = once(webSocket, 'unexpected-response').then(([, answer]) => {
    (answer as IncomingMessage).resume();
    return (answer as IncomingMessage).statusCode ?? 0;
  });
  return Promise.race([once(webSocket, 'open').then(() => 101), refusal]);
}

test('pods that refuse clients for a moment, as too many come, are asked again for the next', async (t) => {
  const settings = { CONNECTIONS_PER_SECOND: '2' };
  const pods = await Promise.all([startItems(t, settings), startItems(t, settings)]);
  const nginx = await startNginx(
    t,
    pods.map(({ port }) => port),
  );
  const statuses = new Set<number>();
  for (let attempt = 0; attempt < ATTEMPTS; attempt += AT_ONCE) {
    const handshakes = Array.from({ length: AT_ONCE }, () => handshake(t, nginx.address));
    for (const status of await Promise.all(handshakes)) statuses.add(status);
  }
  // nginx answers 502 while it counts all gateways as failed.
  assert.deepEqual([...statuses].toSorted(), [101, 503]);
});

test('nginx hands a connection to another gateway when one refuses it', async (t) => {
  const [gone, gateway] = await Promise.all([startItems(t), startItems(t)]);
  const { address } = await startNginx(t, [gone.port, gateway.port]);
  await gone.stop('SIGKILL');
  for (let round = 1; round <= 4; round += 1) {
    const received = new Received(graphqlClient(t, `ws://${address}/graphql`), QUERY);
    await gateway.untilMetric('sluice_subscribers', round);
    await gateway.postEvent('items', { id: 1, n: round });
    await received.until(1);
  }
  assert.equal(await gateway.metric('sluice_connections'), 4);
});

for (const client of [TRANSPORT_CLIENTS.eventStream, TRANSPORT_CLIENTS.multipart]) {
  test(`a stream over ${client.name} through nginx has each event at once, and moves to another pod when its own drains`, async (t) => {
    const gateways = [await startItems(t, { PING_SECONDS: '1' }), await startItems(t)];
    const [first, second] = gateways as [GatewayProcess, GatewayProcess];
    const nginx = await startNginx(t, [first.port]);
    const port = Number(nginx.address.split(':')[1]);
    const behind = Object.assign(Object.create(first) as GatewayProcess, { port });
    const asking = client.ask(t, behind, { query: QUERY });
    await first.untilMetric('sluice_subscribers', 1);
    await first.postEvent('items', { id: 'a', n: 0 });
    assert.deepEqual((await asking.untilPayloads(1))[0]?.data, { item: { n: 0 } });
    await asking.until(({ heartbeats }) => heartbeats >= 2);
    await nginx.use([second.port]);
    await first.stop();
    assert.equal((await asking.untilEnded()).how, 'closed');
    // nginx goes on with its former gateways until it has read its configuration.
    const again = await eventually(async () => {
      const one = client.ask(t, behind, { query: QUERY });
      await one.until(({ ending, isOpen }) => isOpen || ending !== undefined);
      assert.equal(one.ending, undefined);
      return one;
    });
    await second.untilMetric('sluice_subscribers', 1);
    await second.postEvent('items', { id: 'a', n: 7 });
    assert.deepEqual((await again.untilPayloads(1))[0]?.data, { item: { n: 7 } });
  });
}
