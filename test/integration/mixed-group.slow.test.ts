import assert from 'node:assert/strict';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, sumOf, type GatewayProcess } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { numbersOf, subscribed } from '../helpers/graphql-client.ts';
import { kafkaAdmin, kafkaProducer } from '../helpers/kafka-client.ts';
import { range } from '../helpers/numbers.ts';
import { startOwnKafka } from '../helpers/own-kafka.ts';
import { redisUrl, testNeeding } from '../helpers/services.ts';
import { Stream } from '../helpers/stream.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';

const test = testNeeding('kafka-jars', 'redis');

const TOPIC = 'items';
const PARTITIONS = 6;
const SESSION_MS = 6_000;
const INTERVAL_MS = 5;

const CLIENTS = [
  { KAFKA_DRIVER: 'kafkajs', KAFKA_GROUP_PROTOCOL: 'classic' },
  { KAFKA_DRIVER: 'platformatic', KAFKA_GROUP_PROTOCOL: 'classic' },
  { KAFKA_DRIVER: 'platformatic', KAFKA_GROUP_PROTOCOL: 'consumer' },
];

/** Resolves once these pods, and no others, have all partitions. */
const untilShared = (pods: readonly GatewayProcess[]): Promise<void> =>
  eventually(async () => assert.equal(await sumOf(pods, 'sluice_partitions_assigned'), PARTITIONS));

test('pods of both clients and protocols in one group are killed, frozen and stopped: each event comes once, in order', async (t) => {
  const kafka = await startOwnKafka(t, await temporaryFolder(t), {
    'group.consumer.min.session.timeout.ms': SESSION_MS,
    'group.consumer.session.timeout.ms': SESSION_MS,
  });
  await createTopics(await kafkaAdmin(t, kafka.client), [{ topic: TOPIC, numPartitions: PARTITIONS }]);
  const serving = {
    GRAPH: await itemGraph(t, TOPIC),
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
  const received = await subscribed(t, watching);
  const pods = await Promise.all(CLIENTS.map(start));
  await untilShared(pods);
  const stream = new Stream(TOPIC, PARTITIONS, INTERVAL_MS, kafka.client);
  await stream.start(t);

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

  await stream.stop();
  const { sent } = stream;
  await received.until(sent);
  await Promise.all(pods.map((pod) => pod.stop()));
  const last = range(sent, sent + PARTITIONS).map((n) => ({
    partition: n % PARTITIONS,
    value: JSON.stringify({ id: n, n }),
  }));
  await (await kafkaProducer(t, kafka.client)).send({ topic: TOPIC, messages: last });
  // It would publish again what the others had not committed, before the last ones.
  await start(CLIENTS[0] ?? {});
  await received.until(sent + PARTITIONS);
  assert.equal(await watching.metric('sluice_gaps_total'), 0);
  for (const partition of range(0, PARTITIONS)) {
    const isOwn = (n: number) => n % PARTITIONS === partition;
    assert.deepEqual(numbersOf(received).filter(isOwn), range(0, sent + PARTITIONS).filter(isOwn));
  }
});
