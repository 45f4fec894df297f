import assert from 'node:assert/strict';
import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startReady } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, numbersOf, Received, type ItemData } from '../helpers/graphql-client.ts';
import { committedBy, kafkaAdmin, kafkaProducer } from '../helpers/kafka-client.ts';
import { itemLines } from '../helpers/kcat.ts';
import { range } from '../helpers/numbers.ts';
import { startOwnKafka } from '../helpers/own-kafka.ts';
import { ResumingClient } from '../helpers/resuming-client.ts';
import { redisUrl, testNeeding } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';

const test = testNeeding('kafka-jars', 'redis');

const TOPIC = 'items';
const CLIENTS_PER_POD = 100;
const KEPT = 40;
const LOST = 60;
/** By so many the log is longer than before when pods look at it again. */
const MORE = 40;

const ITEM = 'subscription ($id: [ID!]) { item(id: $id) { n } }';

/** Half of them hear an event on two channels. */
const IDS = [['1'], ['1', '2']];

/**
 * Two pods, with a hundred clients each and one that resumes. The log loses its last `LOST` records, which all have had, and as
 * many new ones get their offsets: once a pod has noticed, or before, and then more than were lost.
 *
 * @param keepsEpoch whether they get the leader epoch of those that were lost, too: the controller is restored with the log
 */
async function loseEnd(
  t: TestContext,
  { history = 'null', driver = 'kafkajs', isRefilled = false, keepsEpoch = false },
) {
  const kafka = await startOwnKafka(t, await temporaryFolder(t));
  const admin = await kafkaAdmin(t, kafka.client);
  await createTopics(admin, [{ topic: TOPIC }]);
  const schema = `
    type Subscription { item(id: [ID!]): Item @event(topic: "${TOPIC}", key: "id", history: ${history}) }
    type Item { id: ID! n: Int }
  `;
  const settings = {
    GRAPH: await graphFolder(t, { 'schema.graphql': schema }),
    KAFKA_BROKERS: kafka.brokers,
    KAFKA_DRIVER: driver,
    REDIS_URL: redisUrl(),
    REDIS_PREFIX: `${path.basename(kafka.logFolder)}-${process.pid}-${kafka.brokers}:`,
  };
  const pods = await Promise.all([startReady(t, settings), startReady(t, settings)]);
  const received = pods.flatMap((pod) => {
    const client = graphqlClient(t, pod.graphqlUrl);
    return range(0, CLIENTS_PER_POD).map((n) => new Received<ItemData>(client, ITEM, { id: IDS[n % 2] }));
  });
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', CLIENTS_PER_POD)));
  const resuming = new ResumingClient(t, ITEM, { id: ['1'] });
  if (history !== 'null') await resuming.connect(pods[0]?.graphqlUrl ?? '');
  const send = async (from: number, to: number) => {
    const producer = await kafkaProducer(t, kafka.client);
    await eventually(() => producer.send({ topic: TOPIC, messages: itemLines(range(from, to)) }));
  };
  const all = (count: number) => Promise.all(received.map((each) => each.until(count)));
  const committed = (wanted: number) =>
    eventually(async () => assert.equal(await committedBy(admin, 'sluice', TOPIC), wanted));

  await send(0, KEPT);
  await all(KEPT);
  await committed(KEPT);
  const restored = [`${TOPIC}-0`, ...(keepsEpoch ? ['__cluster_metadata-0'] : [])];
  const copy = await temporaryFolder(t);
  const from = (one: string, other: string) =>
    Promise.all(
      restored.map(async (name) => {
        await rm(path.join(other, name), { recursive: true, force: true });
        await cp(path.join(one, name), path.join(other, name), { recursive: true });
      }),
    );
  if (keepsEpoch) await kafka.kill();
  await from(kafka.logFolder, copy);
  // Each start of a broker begins an epoch.
  if (keepsEpoch) await kafka.restart();
  await send(KEPT, KEPT + LOST);
  await all(KEPT + LOST);
  await committed(KEPT + LOST);
  if (history !== 'null') await resuming.until(({ length }) => length === KEPT + LOST);
  resuming.cut();

  if (isRefilled) for (const pod of pods) pod.child.kill('SIGSTOP');
  await kafka.kill();
  await from(copy, kafka.logFolder);
  await kafka.restart();
  const untilNoticed = () =>
    eventually(async () => {
      const resets = await Promise.all(pods.map((pod) => pod.metric('sluice_position_resets_total')));
      assert.deepEqual(resets.toSorted(), [0, 1]);
    });
  if (!isRefilled) await untilNoticed();
  const total = KEPT + 2 * LOST + (isRefilled ? MORE : 0);
  await send(KEPT + LOST, total);
  if (isRefilled) for (const pod of pods) pod.child.kill('SIGCONT');
  await untilNoticed();
  return { pods, received, resuming, committed: () => committed(total - LOST), total };
}

/** Any two of these are met together; the simulation has epochs and histories in every way, without a driver. */
const CASES = [
  { driver: 'kafkajs', keepsEpoch: false, history: 'null' },
  { driver: 'kafkajs', keepsEpoch: true, history: '{}' },
  { driver: 'platformatic', keepsEpoch: false, history: '{}' },
  { driver: 'platformatic', keepsEpoch: true, history: 'null' },
];

for (const { driver, keepsEpoch, history } of CASES) {
  const reused = keepsEpoch ? 'offsets and leader epochs' : 'offsets';
  test(`${driver}: after a log has lost its end, what reuses its ${reused} reaches 200 subscribers on two pods, each once and in order; history: ${history}`, async (t) => {
    const { pods, received, resuming, committed, total } = await loseEnd(t, {
      history,
      driver,
      keepsEpoch,
    });
    await committed();
    await eventually(() => {
      const delivered = received.map((each) => each.results.length - KEPT - LOST);
      const sum = delivered.reduce((one, other) => one + other, 0);
      assert.equal(sum, LOST * received.length, `delivered ${sum} of ${LOST * received.length}`);
    });
    for (const each of received) assert.deepEqual(numbersOf(each), range(0, total));
    const duplicates = await Promise.all(pods.map((pod) => pod.metric('sluice_duplicates_total')));
    assert.deepEqual(duplicates, [0, 0]);
    if (history === 'null') return;
    await resuming.connect(pods[1]?.graphqlUrl ?? '');
    await resuming.until(({ length }) => length >= total);
    assert.deepEqual(resuming.values('n'), range(0, total));
    assert.equal(resuming.gaps, 0);
  });
}

for (const driver of ['kafkajs', 'platformatic']) {
  test(`${driver}: a log that has lost its end and was filled again before a pod looked is read from where it is another`, async (t) => {
    const { received, total } = await loseEnd(t, { driver, isRefilled: true });
    await eventually(() => {
      const numbers = received.map((each) => each.results.length);
      const sum = numbers.reduce((one, other) => one + other, 0);
      assert.equal(sum, total * received.length, `delivered ${sum} of ${total * received.length}`);
    });
    for (const each of received) assert.deepEqual(numbersOf(each), range(0, total));
  });
}
