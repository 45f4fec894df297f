import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { startOwnKafka, type OwnKafka } from '../helpers/own-kafka.ts';
import { testNeeding, redisUrl } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';

const test = testNeeding('kafka-jars', 'redis');

const TOPIC = 'items';
const PARTITIONS = 6;
const KEYS = 40;
const SESSION_MS = 6_000;
const ROUND_MS = 100;

const CLIENTS = [
  { KAFKA_DRIVER: 'kafkajs', KAFKA_GROUP_PROTOCOL: 'classic' },
  { KAFKA_DRIVER: 'platformatic', KAFKA_GROUP_PROTOCOL: 'classic' },
  { KAFKA_DRIVER: 'platformatic', KAFKA_GROUP_PROTOCOL: 'consumer' },
];

interface Item {
  readonly id: string;
  readonly n: number;
}

/** Sends a round each ROUND_MS, each of one event per key, until it is told to end. */
class Stream {
  rounds = 0;
  readonly #producer: Producer;
  readonly #ended: Promise<void>;
  #isOver = false;

  constructor(producer: Producer) {
    this.#producer = producer;
    this.#ended = this.#goOn();
  }

  async send(): Promise<void> {
    const messages = Array.from({ length: KEYS }, (_, id) => ({
      key: String(id),
      value: JSON.stringify({ id, n: this.rounds }),
    }));
    await this.#producer.send({ topic: TOPIC, messages });
    this.rounds += 1;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  async #goOn(): Promise<void> {
    while (!this.#isOver) {
      await this.send();
      await delay(ROUND_MS);
    }
  }
}

/** Resolves once these pods, and no others, have all partitions. */
const untilShared = (pods: readonly GatewayProcess[]): Promise<void> =>
  eventually(async () => {
    const assigned = await Promise.all(pods.map((pod) => pod.metric('sluice_partitions_assigned')));
    assert.equal(
      assigned.reduce((sum, each) => sum + each, 0),
      PARTITIONS,
      assigned.join(', '),
    );
  });

async function producerOf(t: TestContext, { client }: OwnKafka): Promise<Producer> {
  const admin = client.admin();
  await admin.connect();
  await createTopics(admin, [{ topic: TOPIC, numPartitions: PARTITIONS }]);
  await admin.disconnect();
  const producer = client.producer();
  await producer.connect();
  t.after(() => producer.disconnect());
  return producer;
}

test('pods of both clients and protocols in one group are killed, frozen and stopped: each event comes once, in order', async (t) => {
  const kafka = await startOwnKafka(t, await temporaryFolder(t), {
    'group.consumer.min.session.timeout.ms': SESSION_MS,
    'group.consumer.session.timeout.ms': SESSION_MS,
  });
  const producer = await producerOf(t, kafka);
  const serving = {
    GRAPH: await graphFolder(t, {
      'schema.graphql': `type Subscription { item: Item @event(topic: "${TOPIC}") } type Item { id: ID! n: Int! }`,
    }),
    REDIS_URL: redisUrl(),
    REDIS_PREFIX: `${process.pid}:`,
  };
  const consuming = {
    ...serving,
    KAFKA_BROKERS: kafka.brokers,
    KAFKA_SESSION_TIMEOUT_MS: String(SESSION_MS),
  };
  const start = (client: object): Promise<GatewayProcess> => startGateway(t, { ...consuming, ...client });
  const watching = await startGateway(t, serving);
  const received = new Received<{ item: Item }>(
    graphqlClient(t, watching.graphqlUrl),
    'subscription { item { id n } }',
  );
  await watching.untilMetric('sluice_subscribers', 1);
  const pods = await Promise.all(CLIENTS.map(start));
  await untilShared(pods);
  const stream = new Stream(producer);

  for (const [index, client] of CLIENTS.entries()) {
    const others = pods.filter((_, each) => each !== index);
    const pod = pods[index] as GatewayProcess;
    pod.child.kill('SIGSTOP');
    await untilShared(others);
    pod.child.kill('SIGCONT');
    await untilShared(pods);

    pod.child.kill('SIGKILL');
    await untilShared(others);
    pods[index] = await start(client);
    await untilShared(pods);
  }
  for (const [index, client] of CLIENTS.entries()) {
    await pods[index]?.stop();
    pods[index] = await start(client);
    await untilShared(pods);
  }

  await stream.end();
  await received.until(stream.rounds * KEYS);
  await Promise.all(pods.map((pod) => pod.stop()));
  await stream.send();
  // It would publish again what the others had not committed, before the last round.
  await start(CLIENTS[0] ?? {});
  await received.until(stream.rounds * KEYS);
  assert.equal(await watching.metric('sluice_gaps_total'), 0);
  for (let id = 0; id < KEYS; id++) {
    const items = received.data.flatMap((data) => (data?.item.id === String(id) ? [data.item.n] : []));
    assert.deepEqual(
      items,
      Array.from({ length: stream.rounds }, (_, n) => n),
      `the key ${id}`,
    );
  }
});
