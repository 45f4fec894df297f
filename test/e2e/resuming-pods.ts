import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { kafkaClient } from '../helpers/kafka-client.ts';
import { range } from '../helpers/numbers.ts';
import { startRedis } from '../helpers/redis.ts';
import type { ResumingClient } from '../helpers/resuming-client.ts';
import { kafkaBrokers } from '../helpers/services.ts';
import { Stream } from '../helpers/stream.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { createTopic } from '../helpers/topic.ts';

const KEYS = 5;
const INTERVAL_MS = 5;

export const ALL = 'subscription { item { n } }';
export const SOME = 'subscription ($id: [ID!]) { item(id: $id) { n } }';

/** Two pods that consume a topic together, and a stream of its events. */
export async function startPods(t: TestContext, settings: Record<string, string> = {}) {
  const redis = await startRedis(t);
  const relay = await TcpRelay.start(t, redis.port);
  const topic = await createTopic(t);
  const schema = `
    type Subscription { item(id: [ID!]): Item @event(topic: "${topic}", key: "id", history: { size: 1000 }) }
    type Item { id: ID! n: Int! }`;
  const folder = await graphFolder(t, { 'schema.graphql': schema });
  const start = (): Promise<GatewayProcess> =>
    startGateway(t, {
      GRAPH: folder,
      KAFKA_BROKERS: kafkaBrokers(),
      KAFKA_GROUP_ID: topic,
      REDIS_URL: `redis://127.0.0.1:${relay.port}`,
      ...settings,
    });
  const pods = await Promise.all([start(), start()]);
  await Promise.all(pods.map((pod) => pod.untilReady()));
  const sender = new Stream(topic, 1, INTERVAL_MS, kafkaClient(), (n) => n % KEYS);
  await sender.start(t);
  return { pods, relay, sender };
}

/** Resolves when the clients have got all that was sent; each of them once, in order, and without a gap. */
export async function untilAllHave(
  sender: Stream,
  clients: ReadonlyMap<ResumingClient, readonly number[]>,
): Promise<void> {
  await sender.stop();
  for (const [client, keys] of clients) {
    const from = client.values('n')[0] as number;
    const due = range(from, sender.sent).filter((n) => keys.includes(n % KEYS));
    await client.until(() => client.values('n').at(-1) === due.at(-1));
    assert.deepEqual(new Set(client.greetings), new Set([true]));
    assert.equal(client.gaps, 0);
    assert.deepEqual(client.values('n'), due);
  }
}
