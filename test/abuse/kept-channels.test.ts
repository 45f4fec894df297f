import assert from 'node:assert/strict';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { upTo } from '../helpers/numbers.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import type { Scope } from '../helpers/scope.ts';
import { testNeeding } from '../helpers/services.ts';
import { embedGateway } from '../helpers/embedded-gateway.ts';

const test = testNeeding('redis-server');

const OF_CONNECTION = 20;
const OF_POD = 30;
const ATTEMPTS = 60;

/** How long a list without a message is kept, by default and with `replay`. */
const MOST_MS = 120_000;

const schema = (history: string): string => `
  type Subscription { item(id: ID!): Item @event(topic: "items", key: "id", ${history}) }
  type Item { id: ID! n: Int }
`;

async function startKept(scope: Scope, history: string, settings: Readonly<Record<string, string>> = {}) {
  const folder = await graphFolder(scope, { 'schema.graphql': schema(history) });
  return embedGateway(scope, {
    GRAPH: folder,
    CHANNEL_LINGER_MS: '0',
    MAX_CHANNELS_PER_CONNECTION: String(OF_CONNECTION),
    MAX_CHANNELS_PER_POD: String(OF_POD),
    ...settings,
  });
}

/** Subscribes to one new channel after the other and leaves each. @returns the codes of those that are refused */
async function comeAndGo(gateway: GatewayProcess, socket: RawSocket, name: string): Promise<unknown[]> {
  for (const n of upTo(ATTEMPTS)) {
    socket.subscribe(`${n}`, 'subscription ($id: ID!) { item(id: $id) { n } }', { id: `${name}-${n}` });
    await socket.roundTrip();
    socket.send({ type: 'complete', id: `${n}` });
    await socket.roundTrip();
  }
  await gateway.untilMetric('sluice_channels', 0);
  return socket.messages
    .filter(({ type }) => type === 'error')
    .map(({ payload }) => (payload as { extensions?: { code?: string } }[])[0]?.extensions?.code);
}

for (const history of ['history: {}', 'replay: 3'] as const) {
  test(`with ${history} a connection, and then the pod, causes no more lists than it may have channels, however many it leaves`, async (t) => {
    const redis = await startRedis(t);
    const gateway = await startKept(t, history, { REDIS_URL: redis.url });
    const admin = await redisAdmin(t, redis);
    const lists = async (): Promise<number> => {
      const keys = await admin.keys('*id=*');
      for (const key of keys) assert.ok((await admin.pttl(key)) <= MOST_MS);
      return keys.length;
    };
    const first = await connectAndInit(t, gateway.graphqlUrl);
    const refused = await comeAndGo(gateway, first, 'first');
    assert.deepEqual(refused, Array<string>(ATTEMPTS - OF_CONNECTION).fill('TOO_MANY_CHANNELS'));
    assert.equal(await lists(), OF_CONNECTION);
    first.webSocket.close();
    await first.closed;
    const second = await connectAndInit(t, gateway.graphqlUrl);
    const refusedByPod = await comeAndGo(gateway, second, 'second');
    assert.deepEqual(refusedByPod, Array<string>(ATTEMPTS - (OF_POD - OF_CONNECTION)).fill('POD_FULL'));
    assert.equal(await lists(), OF_POD);
  });
}

test('channels with history that a connection comes back to count once', async (t) => {
  const gateway = await startKept(t, 'history: {}');
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  for (let round = 0; round < 3; round += 1) {
    for (const n of upTo(OF_CONNECTION)) {
      socket.subscribe(`${round}-${n}`, 'subscription ($id: ID!) { item(id: $id) { n } }', { id: `${n}` });
      await socket.roundTrip();
      socket.send({ type: 'complete', id: `${round}-${n}` });
      await socket.roundTrip();
    }
  }
  assert.deepEqual(
    socket.messages.filter(({ type }) => type === 'error'),
    [],
  );
  assert.equal((await comeAndGo(gateway, socket, 'other')).length, ATTEMPTS);
});
