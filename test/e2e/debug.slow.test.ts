import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { download } from '../helpers/curl.ts';
import { objectsIn, readAllocationProfile, readCpuProfile } from '../helpers/devtools-files.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { kcat } from '../helpers/kcat.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { needs, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const SUBSCRIBERS = 100;
const QUERY = 'subscription Watch($id: [ID!]) { item(id: $id) { n } }';

async function subscribed(t: TestContext, gateway: GatewayProcess, count: number): Promise<RawSocket[]> {
  const before = await gateway.metric('sluice_subscribers');
  const sockets = await Promise.all(
    Array.from({ length: count }, () => connectAndInit(t, gateway.graphqlUrl)),
  );
  for (const socket of sockets) socket.subscribe('1', QUERY, { id: ['7'] });
  await gateway.untilMetric('sluice_subscribers', before + count);
  return sockets;
}

const post = (gateway: GatewayProcess, event: object): Promise<void> =>
  gateway.postEvent('items', { id: 7, ...event });

/** Checks that each socket has been sent 0, 1, 2 … up to so many, in this order and nothing else. */
async function assertAllArrived(
  gateway: GatewayProcess,
  sockets: readonly RawSocket[],
  count: number,
): Promise<void> {
  await gateway.untilMetric('sluice_deliveries_total', count * sockets.length);
  const expected = Array.from({ length: count }, (_, n) => n);
  for (const socket of sockets) {
    await socket.roundTrip();
    const results = socket.messages.filter(({ type }) => type === 'next');
    const numbers = results.map(({ payload }) => (payload as { data: { item: { n: number } } }).data.item.n);
    assert.deepEqual(numbers, expected);
  }
}

/** Sends events for as long as something runs. @returns how many */
async function meanwhile(
  running: Promise<unknown>,
  send: (from: number) => Promise<number>,
): Promise<number> {
  const state = { over: false };
  void running.finally(() => (state.over = true)).catch(() => undefined);
  let sent = 0;
  while (!state.over) sent += await send(sent);
  return sent + (await send(sent));
}

test(
  'a heap snapshot taken by curl under load names the subscribers, and sockets get all events in order',
  needs('curl'),
  async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
    const gateway = await startGateway(t, { GRAPH: folder });
    const sockets = await subscribed(t, gateway, SUBSCRIBERS);
    await post(gateway, { n: 0 });

    const downloading = download(t, `${gateway.adminUrl}/debug/heap-snapshot`);
    const sent = await meanwhile(downloading, async (from) => {
      await post(gateway, { n: from + 1 });
      return 1;
    });
    const { name, text } = await downloading;

    assert.match(name, /\.heapsnapshot$/);
    const objects = objectsIn(text);
    assert.equal(objects.get('WebSocketSubscription'), SUBSCRIBERS);
    assert.equal(objects.get('Group'), 1);
    await gateway.untilLog(/the event loop was blocked while a heap snapshot was taken/);
    await assertAllArrived(gateway, sockets, sent + 1);
  },
);

test(
  'a heap snapshot loses no event on the way from Kafka through Redis',
  needs('curl', 'kafka', 'redis', 'kcat'),
  async (t) => {
    const topic = await createTopic(t);
    const gateway = await startGateway(t, {
      GRAPH: await graphFolder(t, { 'schema.graphql': itemSchema(topic) }),
      ...podSettings(topic),
      // The event loop stands still for the snapshot.
      KAFKA_SESSION_TIMEOUT_MS: '60000',
    });
    await gateway.untilReady();
    const sockets = await subscribed(t, gateway, 10);
    const send = async (from: number): Promise<number> => {
      const numbers = Array.from({ length: 100 }, (_, index) => from + index);
      await kcat(
        t,
        topic,
        numbers.map((n) => ({ key: '7', value: JSON.stringify({ id: 7, n }) })),
      );
      return numbers.length;
    };
    const before = await send(0);
    await gateway.untilAtLeast('sluice_events_total', 1);

    const downloading = download(t, `${gateway.adminUrl}/debug/heap-snapshot`);
    const sent = before + (await meanwhile(downloading, (from) => send(before + from)));

    assert.equal(objectsIn((await downloading).text).get('WebSocketSubscription'), sockets.length);
    await assertAllArrived(gateway, sockets, sent);
  },
);

test('profiles taken by curl under load show the functions of the gateway', needs('curl'), async (t) => {
  const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
  const gateway = await startGateway(t, { GRAPH: folder });
  await subscribed(t, gateway, SUBSCRIBERS);
  for (const kind of ['cpu-profile', 'allocation-profile'] as const) {
    const downloading = download(t, `${gateway.adminUrl}/debug/${kind}?seconds=1`);
    await meanwhile(downloading, async (from) => {
      await post(gateway, { n: from });
      return 1;
    });
    const { name, text } = await downloading;
    assert.match(name, { 'cpu-profile': /\.cpuprofile$/, 'allocation-profile': /\.heapprofile$/ }[kind]);
    const functions = kind === 'cpu-profile' ? readCpuProfile(text).functions : readAllocationProfile(text);
    assert.ok(functions.has('#flush') || functions.has('flush'), [...functions.keys()].join());
  }
});
