import assert from 'node:assert/strict';
import { eventually } from '../helpers/eventually.ts';
import { startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { numbersOf, subscribed } from '../helpers/graphql-client.ts';
import { committedBy, kafkaAdmin, kafkaProducer } from '../helpers/kafka-client.ts';
import { itemLines } from '../helpers/kcat.ts';
import { upTo } from '../helpers/numbers.ts';
import { startOwnKafka } from '../helpers/own-kafka.ts';
import { redisUrl, testNeeding } from '../helpers/services.ts';
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
  const admin = await kafkaAdmin(t, kafka.client);
  await createTopics(admin, [{ topic: TOPIC }]);
  const producer = await kafkaProducer(t, kafka.client);
  let last = 0;
  const send = async (count: number) => {
    const messages = itemLines(upTo(last + count, last + 1));
    last += count;
    await producer.send({ topic: TOPIC, messages });
  };
  const settings = {
    GRAPH: await itemGraph(t, TOPIC),
    KAFKA_BROKERS: kafka.brokers,
    KAFKA_GROUP_ID: GROUP,
    KAFKA_SESSION_TIMEOUT_MS: String(SESSION_MS),
    REDIS_URL: redisUrl(),
    REDIS_PREFIX: `${process.pid}:`,
  };
  // What is published and not yet committed, the next pod publishes again: a copy that is not the frozen pod's.
  const untilCommitted = () =>
    eventually(async () => assert.equal(await committedBy(admin, GROUP, TOPIC), last));
  const [one, another] = await Promise.all([startReady(t, settings), startReady(t, settings)]);
  const untilOneHasIt = () =>
    eventually(async () => {
      const assigned = [one, another].map((pod) => pod.metric('sluice_partitions_assigned'));
      const [ofOne, ofAnother] = await Promise.all(assigned);
      assert.deepEqual([ofOne, ofAnother].toSorted(), [0, 1], 'the group has not shared the partition out');
      return ofOne === 1;
    });
  const [frozen, going] = (await untilOneHasIt()) ? [one, another] : [another, one];
  const received = await subscribed(t, going);
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
  await untilOneHasIt();
  await send(1);
  await received.until(last);
  assert.deepEqual(numbersOf(received), upTo(last));
  assert.equal(await going.metric('sluice_duplicates_total'), 0);
});
