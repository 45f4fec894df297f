import assert from 'node:assert/strict';
import { eventually } from '../helpers/eventually.ts';
import { runCli, startGateway } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { numbersOf, subscribed } from '../helpers/graphql-client.ts';
import { itemLines, kcat } from '../helpers/kcat.ts';
import { range, sorted } from '../helpers/numbers.ts';
import { kafkaBrokers, testNeeding, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'redis', 'kcat');

const CLIENTS = [
  { KAFKA_DRIVER: 'kafkajs' },
  { KAFKA_DRIVER: 'platformatic' },
  { KAFKA_DRIVER: 'platformatic', KAFKA_GROUP_PROTOCOL: 'consumer' },
];
const PARTITIONS = 6;
const EVENTS = 300;

/**
 * What each client does is shown by `test/contract/kafka-driver.ts`. Here, that settings choose it, and that the gateway's
 * timing suits each: pods of a rolling update from one to the other share a group.
 */
test('pods with each Kafka client and group protocol share one group: each event comes once, and each writes dead letters', async (t) => {
  const topic = await createTopic(t, { partitions: PARTITIONS });
  const dead = await createTopic(t);
  const settings = {
    GRAPH: await itemGraph(t, topic),
    ...podSettings(topic),
    DEAD_LETTER_TOPIC: dead,
  };
  const pods = await Promise.all(CLIENTS.map((client) => startGateway(t, { ...settings, ...client })));
  const [first] = pods;
  assert.ok(first);
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_partitions_assigned', 2)));
  const received = await subscribed(t, first);
  const lines = itemLines(range(0, EVENTS), (n) => n);
  await kcat(t, topic, [...lines, ...range(0, 60).map((n) => ({ key: String(n), value: 'no JSON' }))]);
  await received.until(EVENTS);
  assert.deepEqual(sorted(numbersOf(received)), range(0, EVENTS));
  const consumed = await Promise.all(pods.map((pod) => pod.metric('sluice_events_total')));
  assert.ok(Math.min(...consumed) > 0, `events of each pod: ${consumed.join(', ')}`);
  await eventually(async () => {
    const letters = await Promise.all(pods.map((pod) => pod.metric('sluice_dead_letters_total')));
    const sum = letters.reduce((before, count) => before + count, 0);
    assert.deepEqual([sum, Math.min(...letters) > 0], [60, true], `dead letters: ${letters.join(', ')}`);
  });
  const list = { KAFKA_BROKERS: kafkaBrokers(), DEAD_LETTER_TOPIC: dead };
  const { stdout } = await runCli(t, ['dead-letters', 'list', '--json'], list);
  assert.equal(stdout.trim().split('\n').length, 60);
  for (const pod of pods) assert.equal(await pod.stop(), 0);
});
