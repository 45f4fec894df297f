import assert from 'node:assert/strict';
import { eventually } from '../helpers/eventually.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { startOwnKafka } from '../helpers/own-kafka.ts';
import { testNeeding, redisUrl } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';

const test = testNeeding('kafka-jars', 'redis');

const TOPIC = 'items';
const GROUP = 'pods';
const SESSION_MS = 6_000;

/** Subscribers recognise the copies of the last 512 events. */
const LATER_EVENTS = 1_000;

test('a pod that stands still for longer than its session does not publish afterwards what another pod has published', async (t) => {
  const kafka = await startOwnKafka(t, await temporaryFolder(t), {
    'group.consumer.min.session.timeout.ms': SESSION_MS,
    'group.consumer.session.timeout.ms': SESSION_MS,
  });
  const admin = kafka.client.admin();
  await admin.connect();
  t.after(() => admin.disconnect());
  await createTopics(admin, [{ topic: TOPIC, numPartitions: 1 }]);
  const producer = kafka.client.producer();
  await producer.connect();
  t.after(() => producer.disconnect());
  let last = 0;
  const send = async (count: number) => {
    const messages = Array.from({ length: count }, () => {
      last += 1;
      return { key: '1', value: JSON.stringify({ id: 1, n: last }) };
    });
    await producer.send({ topic: TOPIC, messages });
  };
  const settings = {
    GRAPH: await graphFolder(t, {
      'schema.graphql': `type Subscription { item: Item @event(topic: "${TOPIC}") } type Item { id: ID! n: Int! }`,
    }),
    KAFKA_BROKERS: kafka.brokers,
    KAFKA_GROUP_ID: GROUP,
    KAFKA_SESSION_TIMEOUT_MS: String(SESSION_MS),
    REDIS_URL: redisUrl(),
    REDIS_PREFIX: `${process.pid}:`,
  };
  // What is published and not yet committed, the next pod publishes again: a copy that is not the frozen pod's.
  const untilCommitted = () =>
    eventually(async () => {
      const [found] = await admin.fetchOffsets({ groupId: GROUP, topics: [TOPIC] });
      assert.equal(found?.partitions[0]?.offset, String(last));
    });
  const [consuming, other] = [await startGateway(t, settings), await startGateway(t, settings)];
  const pods = [consuming, other];
  await Promise.all(pods.map((pod) => pod.untilReady()));
  const assigned = () => Promise.all(pods.map((pod) => pod.metric('sluice_partitions_assigned')));
  const [ofFirst] = await eventually(async () => {
    const each = await assigned();
    assert.deepEqual(each.toSorted(), [0, 1]);
    return each;
  });
  const [frozen, going] = ofFirst === 1 ? [consuming, other] : [other, consuming];
  const client = graphqlClient(t, going.graphqlUrl);
  const received = new Received<{ item: { n: number } }>(client, 'subscription { item { n } }');
  await going.untilMetric('sluice_subscribers', 1);
  await send(1);
  await received.until(1);
  await untilCommitted();

  // The broker answers the fetch that is under way: the event waits in the socket of the pod that stands still.
  frozen.child.kill('SIGSTOP');
  await send(1);
  await going.untilMetric('sluice_partitions_assigned', 1);
  await received.until(2);
  await send(LATER_EVENTS);
  await received.until(last);
  await untilCommitted();
  frozen.child.kill('SIGCONT');
  await eventually(async () =>
    assert.deepEqual(
      (await assigned()).toSorted(),
      [0, 1],
      'the group has not shared the partition out again',
    ),
  );
  await send(1);
  await received.until(last);
  assert.deepEqual(
    received.data.map((data) => data?.item.n),
    Array.from({ length: last }, (_, index) => index + 1),
  );
  assert.equal(await going.metric('sluice_duplicates_total'), 0);
});
