import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { kcat } from '../helpers/kcat.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { needs, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const QUERY = 'subscription Watch($id: [ID!]) { item(id: $id) { n } }';

interface Inspection {
  readonly sockets: {
    readonly count: number;
    readonly waitingBytes: number;
    readonly slowest: readonly { readonly waitingBytes: number; readonly operations: number }[];
  };
  readonly groups: { readonly count: number; readonly largest: readonly object[] };
  readonly channels: unknown;
}

const post = (gateway: GatewayProcess, event: object): Promise<void> =>
  gateway.postEvent('items', { id: 7, ...event });

test('the state of the hub shows what subscribers have asked for, and for which sockets bytes wait', async (t) => {
  const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
  const gateway = await startGateway(t, {
    GRAPH: folder,
    SOCKET_BUFFER_BYTES: '100000000',
    MAX_PAYLOAD_BYTES: '1000000',
    PING_SECONDS: '0',
  });
  const inspect = async () => {
    const response = await fetch(`${gateway.adminUrl}/debug/hub`);
    return (await response.json()) as Inspection;
  };
  for (let n = 0; n < 3; n += 1) {
    (await connectAndInit(t, gateway.graphqlUrl)).subscribe('1', QUERY, { id: ['7'] });
  }
  await gateway.untilMetric('sluice_subscribers', 3);
  const stalled = await connectAndInit(t, gateway.graphqlUrl);
  const other = 'subscription { expensive_item(min_price: 5) { seller_name } }';
  stalled.subscribe('1', other);
  await gateway.untilMetric('sluice_subscribers', 4);
  await post(gateway, { n: 1, price: 4 });
  await gateway.untilMetric('sluice_deliveries_total', 3);
  await gateway.untilMetric('sluice_filtered_total', 1);

  const { sockets, groups, channels } = await inspect();
  assert.deepEqual(sockets, {
    count: 4,
    handshakes: 0,
    operations: 4,
    viewers: 0,
    waitingBytes: 0,
    slowest: [],
  });
  assert.deepEqual(groups, {
    count: 2,
    subscribers: 4,
    waiting: 0,
    largest: [
      {
        field: 'item',
        document: QUERY,
        operationName: 'Watch',
        variables: { id: ['7'] },
        channels: ['sluice:items:id=7'],
        subscribers: 3,
        live: true,
        events: 1,
        executions: 1,
        waiting: 0,
      },
      {
        field: 'expensive_item',
        document: other,
        variables: {},
        channels: ['sluice:items'],
        subscribers: 1,
        live: true,
        events: 1,
        executions: 0,
        waiting: 0,
      },
    ],
  });
  assert.deepEqual(channels, {
    count: 2,
    largest: [
      { name: 'sluice:items:id=7', groups: 1, subscribers: 3 },
      { name: 'sluice:items', groups: 1, subscribers: 1 },
    ],
  });

  stalled.webSocket.pause();
  // More than the system takes off the gateway's hands.
  for (let n = 0; n < 40; n += 1) await post(gateway, { price: 5, sellerName: 'x'.repeat(400_000) });
  const waiting = await eventually(async () => {
    const { sockets: now } = await inspect();
    assert.ok(now.waitingBytes > 1_000_000, `${now.waitingBytes} bytes wait`);
    return now;
  });
  assert.equal(waiting.slowest.length, 1);
  assert.deepEqual(waiting.slowest[0], { waitingBytes: waiting.waitingBytes, operations: 1 });
});

test(
  '/debug/ingest and the metrics show how far each partition has been consumed',
  needs('kafka', 'redis', 'kcat'),
  async (t) => {
    const topic = await createTopic(t, { partitions: 2 });
    const gateway = await startGateway(t, {
      GRAPH: await graphFolder(t, { 'schema.graphql': itemSchema(topic) }),
      ...podSettings(topic),
    });
    await gateway.untilReady();
    await kcat(
      t,
      topic,
      Array.from({ length: 20 }, (_, n) => ({ key: String(n), value: JSON.stringify({ id: n, n }) })),
    );
    await gateway.untilMetric('sluice_events_total', 20);
    await eventually(async () => {
      const { kafka } = (await (await fetch(`${gateway.adminUrl}/debug/ingest`)).json()) as {
        kafka: { connected: boolean; lastError?: string; partitions: Record<string, unknown>[] };
      };
      assert.equal(kafka.connected, true);
      const positions = kafka.partitions.map(({ position }) => Number(position));
      assert.equal(
        positions.reduce((sum, position) => sum + position, 0),
        20,
      );
      for (const { highWatermark, ...rest } of kafka.partitions) {
        const { partition, position } = rest;
        assert.deepEqual(rest, { topic, partition, position, lag: 0, lagSeconds: 0, state: 'consuming' });
        assert.equal(highWatermark, position);
      }
    });
    await gateway.untilMetric('sluice_kafka_connected', 1);
    await gateway.untilMetric('sluice_partitions_assigned', 2);
    await gateway.untilMetric(`sluice_kafka_lag{topic="${topic}"}`, 0);
    await gateway.untilMetric(`sluice_kafka_lag_seconds{topic="${topic}"}`, 0);
  },
);
