import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, type TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { startGateway, startReady, sumOf, type GatewayProcess } from '../helpers/gateway.ts';
import { eventually } from '../helpers/eventually.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kafkaAdmin, kafkaClient, kafkaProducer } from '../helpers/kafka-client.ts';
import { itemLines, kcat } from '../helpers/kcat.ts';
import { range } from '../helpers/numbers.ts';
import { startRedis } from '../helpers/redis.ts';
import { ResumingClient } from '../helpers/resuming-client.ts';
import { podSettings, testNeeding } from '../helpers/services.ts';
import { Stream } from '../helpers/stream.ts';
import { createTopics } from '../helpers/topic.ts';

const it = testNeeding('kafka', 'redis', 'redis-server', 'kcat');

const PARTITIONS = 3;
const KEYS = 10;
const ITEM = 'type Item { id: ID! n: Int! source: String! @from(metadata: TOPIC) }';

interface Item {
  readonly n: number;
  readonly source: string;
}

/** Topics of the test's own, and a graph that shows them. @param fields of the Subscription type, of the topics' prefix */
async function setUp(t: TestContext, fields: (prefix: string) => string) {
  const prefix = `orders-${randomUUID().slice(0, 8)}-`;
  const admin = await kafkaAdmin(t);
  const create = async (...names: readonly string[]): Promise<void> =>
    createTopics(
      admin,
      names.map((name) => ({ topic: prefix + name, numPartitions: PARTITIONS })),
    );
  const schema = `type Subscription { ${fields(prefix)} } ${ITEM}`;
  const settings = { GRAPH: await graphFolder(t, { 'schema.graphql': schema }), ...podSettings(prefix) };
  const send = (name: string, from: number, to: number): Promise<void> =>
    kcat(
      t,
      prefix + name,
      itemLines(range(from, to), (n) => n % KEYS),
    );
  return { prefix, admin, create, settings, send };
}

/** Two pods that have all partitions of so many topics. */
async function startPods(t: TestContext, settings: Readonly<Record<string, string>>, topics: number) {
  const pods = await Promise.all([startReady(t, settings), startReady(t, settings)]);
  await untilAssigned(pods, topics);
  return pods;
}

async function untilAssigned(pods: readonly GatewayProcess[], topics: number): Promise<void> {
  const each = (topics * PARTITIONS) / pods.length;
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_partitions_assigned', each)));
  assert.equal(await sumOf(pods, 'sluice_partitions_assigned'), topics * PARTITIONS);
}

async function subscribe(t: TestContext, pods: readonly GatewayProcess[], field: string) {
  const all = pods.map(
    (pod) =>
      new Received<Readonly<Record<string, Item>>>(
        graphqlClient(t, pod.graphqlUrl),
        `subscription { ${field} { n source } }`,
        {},
        { gaps: true },
      ),
  );
  await Promise.all(pods.map((pod) => pod.untilMetric('sluice_subscribers', 1)));
  return all;
}

/** Each has got these numbers of each topic, once, in the order of each key, and nothing else. */
async function assertHave(
  received: readonly Received<Readonly<Record<string, Item>>>[],
  topics: Readonly<Record<string, number>>,
): Promise<void> {
  const sent = Object.values(topics).reduce((sum, count) => sum + count, 0);
  for (const each of received) {
    await each.until(sent);
    const items = each.data.flatMap((data) => Object.values(data ?? {}));
    for (const [topic, count] of Object.entries(topics)) {
      const numbers = items.filter(({ source }) => source === topic).map(({ n }) => n);
      for (const key of range(0, KEYS)) {
        assert.deepEqual(
          numbers.filter((n) => n % KEYS === key),
          range(0, count).filter((n) => n % KEYS === key),
        );
      }
    }
    assert.equal(each.results.length, sent);
  }
}

describe('a field that shows several topics', { concurrency: true }, () => {
  it('gets the events of each in order over two pods, beside a field of one of them', async (t) => {
    const { prefix, create, settings, send } = await setUp(
      t,
      (names) => `
        item: Item @event(topics: ["${names}eu", "${names}us"])
        european: Item @event(topic: "${names}eu")`,
    );
    await create('eu', 'us');
    const pods = await startPods(t, settings, 2);
    const [one, ...others] = await subscribe(t, pods, 'item');
    assert.ok(one);
    const european = new Received<Readonly<Record<string, Item>>>(
      graphqlClient(t, pods[0]?.graphqlUrl ?? ''),
      'subscription { european { n source } }',
    );
    await pods[0]?.untilMetric('sluice_subscribers', 2);
    await Promise.all([send('eu', 0, 200), send('us', 0, 300)]);
    await assertHave([one, ...others], { [`${prefix}eu`]: 200, [`${prefix}us`]: 300 });
    await assertHave([european], { [`${prefix}eu`]: 200 });
    assert.equal(await sumOf(pods, 'sluice_duplicates_total'), 0);
  });

  it('resumes by one cursor, and begins with the last events that are not deleted in their own topic', async (t) => {
    const { prefix, create, settings } = await setUp(
      t,
      (names) => `item(id: [ID!]): Item
        @event(topics: ["${names}eu", "${names}us"], key: "id", history: { size: 1000 }, replay: 4)`,
    );
    await create('eu', 'us');
    const pods = await startPods(t, settings, 2);
    const producer = await kafkaProducer(t);
    let next = 0;
    const send = async (count: number): Promise<void> => {
      for (const n of range(next, next + count)) {
        const message = { key: 'k', value: JSON.stringify({ id: n % 2, n }) };
        for (const name of ['eu', 'us']) await producer.send({ topic: prefix + name, messages: [message] });
      }
      next += count;
    };
    const clients = [
      { client: new ResumingClient(t, 'subscription { item { n source } }'), ids: [0, 1] },
      {
        client: new ResumingClient(t, 'subscription ($id: [ID!]) { item(id: $id) { n source } }', {
          id: ['1'],
        }),
        ids: [1],
      },
    ];
    for (let times = 0; times < 6; times += 1) {
      for (const { client } of clients) await client.connect(pods[times % 2]?.graphqlUrl ?? '');
      await send(10);
      for (const { client } of clients) client.cut();
      await send(10);
    }
    for (const { client, ids } of clients) {
      await client.connect(pods[0]?.graphqlUrl ?? '');
      const due = range(0, next).filter((n) => ids.includes(n % 2));
      await client.until((results) => results.length >= 2 * due.length);
      assert.deepEqual(new Set(client.greetings), new Set([true]));
      const [numbers, sources] = [client.values('n'), client.values('source')];
      for (const name of ['eu', 'us']) {
        assert.deepEqual(
          numbers.filter((_, index) => sources[index] === prefix + name),
          due,
        );
      }
    }
    await producer.send({ topic: `${prefix}eu`, messages: [{ key: 'k', value: null }] });
    await eventually(async () => assert.equal(await sumOf(pods, 'sluice_tombstones_total'), 1));
    const late = new ResumingClient(t, 'subscription { item { n source } }');
    await late.connect(pods[1]?.graphqlUrl ?? '');
    await late.until((results) => results.length === 4);
    assert.deepEqual(new Set(late.values('source')), new Set([`${prefix}us`]));
    assert.deepEqual(late.values('n'), range(next - 4, next));
  });

  it('reads again from Kafka, of each topic, what it has missed while connections to Redis were lost', async (t) => {
    const { prefix, create, settings } = await setUp(
      t,
      (names) => `item: Item @event(topics: ["${names}eu", "${names}us"])`,
    );
    await create('eu', 'us');
    const server = await startRedis(t);
    const pods = await startPods(t, { ...settings, REDIS_URL: server.url }, 2);
    const received = await subscribe(t, pods, 'item');
    const streams = ['eu', 'us'].map((name) => new Stream(prefix + name, PARTITIONS, 5, kafkaClient()));
    await Promise.all(streams.map((stream) => stream.start(t)));
    const redis = new Redis(server.url);
    t.after(() => redis.disconnect());
    for (let times = 0; times < 3; times += 1) {
      // Positions are told each second, and confirmed by the beat behind them.
      await Promise.all(streams.map((stream) => stream.more(600)));
      assert.ok(Number(await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')) >= pods.length);
    }
    await Promise.all(streams.map((stream) => stream.more(100)));
    await Promise.all(streams.map((stream) => stream.stop()));
    const [eu, us] = streams.map(({ sent }) => sent);
    for (const each of received) {
      await each.until((eu ?? 0) + (us ?? 0));
      const items = each.data.flatMap((data) => Object.values(data ?? {}));
      assert.equal(items.length, each.results.length);
      for (const [name, sent] of [['eu', eu] as const, ['us', us] as const]) {
        const numbers = items.filter(({ source }) => source === prefix + name).map(({ n }) => n);
        for (const partition of range(0, PARTITIONS)) {
          assert.deepEqual(
            numbers.filter((n) => n % PARTITIONS === partition),
            range(0, sent ?? 0).filter((n) => n % PARTITIONS === partition),
          );
        }
      }
    }
    assert.ok((await sumOf(pods, 'sluice_missed_read_total')) > 0);
  });
});

describe('a field that shows the topics of a pattern', { concurrency: true }, () => {
  it('gets what is sent to a new topic from its first event on, on old pods and new ones, and goes on without one that goes', async (t) => {
    const { prefix, admin, create, settings, send } = await setUp(
      t,
      (names) => `item: Item @event(topic: "/^${names}/")`,
    );
    await create('a', 'b');
    await send('a', 900, 950);
    const pods = await startPods(t, settings, 2);
    const received = await subscribe(t, pods, 'item');
    await Promise.all([send('a', 0, 50), send('b', 0, 50)]);
    await assertHave(received, { [`${prefix}a`]: 50, [`${prefix}b`]: 50 });
    await create('c');
    await send('c', 0, 100);
    // It does not know that the topic is new, but the group has no position on it.
    const third = await startGateway(t, settings);
    await third.untilReady();
    await assertHave(received, { [`${prefix}a`]: 50, [`${prefix}b`]: 50, [`${prefix}c`]: 100 });
    await admin.deleteTopics({ topics: [`${prefix}b`] });
    for (const pod of [...pods, third]) await pod.untilLog(/topics that matched a pattern are gone/);
    await send('a', 50, 80);
    await assertHave(received, { [`${prefix}a`]: 80, [`${prefix}b`]: 50, [`${prefix}c`]: 100 });
    for (const pod of pods) await pod.untilReady();
  });

  it('takes the place of a name, and begins at the ends of the other topics', async (t) => {
    const { prefix, create, settings, send } = await setUp(
      t,
      (names) => `item: Item @event(topic: "/^${names}/")`,
    );
    await create('a', 'b');
    await send('b', 900, 950);
    const schema = `type Subscription { item: Item @event(topic: "${prefix}a") } ${ITEM}`;
    const GRAPH = await graphFolder(t, { 'schema.graphql': schema });
    const before = await startReady(t, { ...settings, GRAPH });
    await before.untilMetric('sluice_partitions_assigned', PARTITIONS);
    before.child.kill('SIGTERM');
    await once(before.child, 'exit');
    const pods = await startPods(t, settings, 2);
    const received = await subscribe(t, pods, 'item');
    await Promise.all([send('a', 0, 50), send('b', 0, 50)]);
    await assertHave(received, { [`${prefix}a`]: 50, [`${prefix}b`]: 50 });
  });

  it('is ready while no topic matches, and takes up the first', async (t) => {
    const { prefix, create, settings, send } = await setUp(
      t,
      (names) => `item: Item @event(topic: "/^${names}/")`,
    );
    const pod = await startReady(t, settings);
    const received = await subscribe(t, [pod], 'item');
    await create('first');
    await send('first', 0, 50);
    await assertHave(received, { [`${prefix}first`]: 50 });
  });
});
