import assert from 'node:assert/strict';
import { eventually } from '../helpers/eventually.ts';
import { startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { graphqlClient, numbersOf, Received, subscribed } from '../helpers/graphql-client.ts';
import { itemLines, kcat } from '../helpers/kcat.ts';
import { range, sorted } from '../helpers/numbers.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { NAME, startSentinel } from '../helpers/redis-sentinel.ts';
import type { Scope } from '../helpers/scope.ts';
import { podSettings, testNeeding } from '../helpers/services.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'kcat', 'redis-server');

const PARTITIONS = 4;
const SOCKETS = 20;
const QUERY = 'subscription { item { n } }';

/** How a pod is told of the Redis at a port. */
const TOLD = {
  'an address': async (_scope: Scope, port: number) => ({ REDIS_URL: `redis://127.0.0.1:${port}` }),
  'a Sentinel': async (scope: Scope, port: number) => ({
    REDIS_SENTINELS: `127.0.0.1:${await startSentinel(scope, port, 1)}`,
    REDIS_SENTINEL_MASTER: NAME,
  }),
};

for (const [by, toldOf] of Object.entries(TOLD)) {
  test(`a pod that alone can’t listen to Redis, of which it knows by ${by}, sends its clients away, and what it consumes reaches those of others`, async (t) => {
    const topic = await createTopic(t, { partitions: PARTITIONS });
    const redis = await startRedis(t);
    const relay = await TcpRelay.start(t, redis.port);
    const graph = { GRAPH: await itemGraph(t, topic), ON_GAP: 'tell', DRAIN_SECONDS: '1' };
    const { REDIS_URL: _, ...settings } = { ...graph, ...podSettings(topic) };
    const [deaf, other] = await Promise.all(
      [relay.port, redis.port].map(async (port) =>
        startReady(t, { ...settings, ...(await toldOf(t, port)) }),
      ),
    );
    assert.ok(deaf && other);
    for (const pod of [deaf, other]) await pod.untilMetric('sluice_partitions_assigned', PARTITIONS / 2);
    const sent = await Promise.all(
      range(0, SOCKETS).map(() => new Received(graphqlClient(t, deaf.graphqlUrl), QUERY)),
    );
    const stays = await subscribed(t, other);
    await deaf.untilMetric('sluice_subscribers', SOCKETS);

    // Of both pods; only one can't make it again.
    relay.stall();
    await (await redisAdmin(t, redis)).call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await kcat(t, topic, itemLines(range(0, 200)));
    await deaf.untilNotReady(/hears nothing of Redis, though others do/);
    for (const one of sent) assert.equal(await one.untilClosed(), '1012 Service restart');
    const refused = await new Received(graphqlClient(t, deaf.graphqlUrl), QUERY).untilEnd();
    assert.match(String((refused as Error).message), /503/);
    await deaf.untilMetric('sluice_refusals_total{reason="deaf"}', 1);
    await eventually(() => {
      const numbers = numbersOf(stays).filter((n) => !Number.isNaN(n));
      assert.deepEqual(sorted(numbers), range(0, 200));
    });
    await other.untilReady();

    relay.flow();
    await deaf.untilReady();
    const back = await subscribed(t, deaf);
    await kcat(t, topic, itemLines([200]));
    await back.until(1);
    assert.deepEqual(numbersOf(back), [200]);
  });
}
