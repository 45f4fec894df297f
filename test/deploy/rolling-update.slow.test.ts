import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { Crowd } from '../helpers/crowd.ts';
import { eventually } from '../helpers/eventually.ts';
import { startReady, sumOf, type GatewayProcess } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { startNginx } from '../helpers/nginx.ts';
import { needs, podSettings, redisUrl } from '../helpers/services.ts';
import { Stream } from '../helpers/stream.ts';
import { createTopic } from '../helpers/topic.ts';

const CLIENTS = 120;
const PODS = 3;
const PARTITIONS = 6;
/** Each event goes to all clients, and their processing is most of what this test has to do. */
const EVENT_INTERVAL_MS = 100;
/** Long beside what a client takes to come back, on a slow machine too. */
const DRAIN = { DRAIN_DELAY_SECONDS: '1', DRAIN_SECONDS: '8' };

/** The grace period of Kubernetes before it kills a pod; here for a pod that would not end at all. */
const GRACE_MS = 120_000;

/** Which events have been published on the topic's channel: `n` of each. */
async function watchChannel(t: TestContext, channel: string): Promise<Set<number>> {
  const redis = new Redis(redisUrl());
  t.after(() => redis.disconnect());
  const published = new Set<number>();
  redis.on('message', (_channel, text: string) => {
    published.add((JSON.parse(text) as { event: { n: number } }).event.n);
  });
  await redis.subscribe(channel);
  return published;
}

/** Ends a pod as Kubernetes does: it asks, waits for the grace period, and kills. */
async function endPod(pod: GatewayProcess): Promise<number | null> {
  const kill = setTimeout(() => pod.child.kill('SIGKILL'), GRACE_MS);
  const code = await pod.stop('SIGTERM');
  clearTimeout(kill);
  return code;
}

test(
  'pods are replaced one by one under a stream of events: clients reconnect, few are away at once, every event is published',
  needs('kafka', 'redis', 'nginx'),
  async (t) => {
    const topic = await createTopic(t, { partitions: PARTITIONS });
    const settings = { GRAPH: await itemGraph(t, topic), ...podSettings(topic), ...DRAIN };
    const start = (): Promise<GatewayProcess> => startReady(t, settings);
    const published = await watchChannel(t, `${topic}:${topic}`);
    let pods = await Promise.all(Array.from({ length: PODS }, start));
    const nginx = await startNginx(
      t,
      pods.map(({ port }) => port),
    );
    const crowd = new Crowd(t, CLIENTS, `ws://${nginx.address}/graphql`);
    const allAreBack = (): Promise<void> =>
      eventually(async () => {
        assert.equal(await sumOf(pods, 'sluice_subscribers'), CLIENTS);
        assert.equal(crowd.away, 0);
      });
    await allAreBack();
    const stream = new Stream(topic, PARTITIONS, EVENT_INTERVAL_MS);
    await stream.start(t);

    for (const old of pods) {
      const held = await old.metric('sluice_connections');
      const fresh = await start();
      pods = [...pods.filter((pod) => pod !== old), fresh];
      const ended = endPod(old);
      // A line of the log stays, where the pod's answer that it drains goes with the pod.
      await old.untilLog(/"draining"/);
      await nginx.use(pods.map(({ port }) => port));
      assert.equal(await ended, 0);
      await allAreBack();
      const mostAway = crowd.takeMostAway();
      t.diagnostic(`a pod with ${held} clients went; at most ${mostAway} were away at once`);
      assert.ok(mostAway <= CLIENTS / 6, `${mostAway} clients were away at once`);
      await crowd.untilAllReceive(stream.sent);
    }

    await stream.stop();
    await eventually(() => {
      const missing = Array.from({ length: stream.sent }, (_, n) => n).filter((n) => !published.has(n));
      assert.deepEqual(missing, [], 'events that were not published');
    });
    assert.ok(crowd.received.every(({ end }) => end === undefined));
    t.diagnostic(`${stream.sent} events`);
  },
);
