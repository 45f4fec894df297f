import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Producer } from 'kafkajs';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { kafkaClient } from '../helpers/kafka-client.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { ResumingClient, subscribeWith } from '../helpers/resuming-client.ts';
import { kafkaBrokers, needs } from '../helpers/services.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { TcpRelay } from '../helpers/tcp-relay.ts';
import { createTopic } from '../helpers/topic.ts';

const KEYS = 5;
const INTERVAL_MS = 5;

const ALL = 'subscription { item { n } }';
const SOME = 'subscription ($id: [ID!]) { item(id: $id) { n } }';

/** Numbered events of some keys, until it is stopped. */
class Sender {
  sent = 0;
  readonly #topic: string;
  readonly #producer: Producer = kafkaClient().producer();
  #isRunning = true;
  #done: Promise<void> = Promise.resolve();

  constructor(topic: string) {
    this.#topic = topic;
  }

  async start(t: TestContext): Promise<void> {
    t.after(() => this.stop());
    await this.#producer.connect();
    this.#done = this.#run();
  }

  /** Those that were sent up to now, with these keys. */
  numbers(keys: readonly number[]): number[] {
    return Array.from({ length: this.sent }, (_, n) => n).filter((n) => keys.includes(n % KEYS));
  }

  async stop(): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    await this.#done;
    await this.#producer.disconnect();
  }

  /** Resolves when so many more have been sent. */
  async more(count: number): Promise<void> {
    const wanted = this.sent + count;
    await eventually(() => assert.ok(this.sent >= wanted, `expected ${wanted} events, got ${this.sent}`));
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      const n = this.sent;
      const value = JSON.stringify({ id: n % KEYS, n });
      await this.#producer.send({ topic: this.#topic, messages: [{ partition: 0, value }] });
      this.sent += 1;
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    }
  }
}

/** Two pods that consume a topic together, and a stream of its events. */
async function startPods(t: TestContext, settings: Record<string, string> = {}) {
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
  const sender = new Sender(topic);
  await sender.start(t);
  return { pods, redis, relay, sender };
}

/** Resolves when the clients have got all that was sent; each of them once, in order, and without a gap. */
async function untilAllHave(
  sender: Sender,
  clients: ReadonlyMap<ResumingClient, readonly number[]>,
): Promise<void> {
  await sender.stop();
  for (const [client, keys] of clients) {
    const from = client.values('n')[0] as number;
    const due = sender.numbers(keys).filter((n) => n >= from);
    await eventually(() => assert.equal(client.values('n').at(-1), due.at(-1)));
    assert.deepEqual(new Set(client.greetings), new Set([true]));
    assert.equal(client.gaps, 0);
    assert.deepEqual(client.values('n'), due);
  }
}

test(
  'clients that are cut off again and again, and resume on the other of two pods, get every event once and in order',
  needs('kafka', 'redis-server'),
  async (t) => {
    const { pods, sender } = await startPods(t);
    const clients = new Map([
      [new ResumingClient(t, ALL), [0, 1, 2, 3, 4]],
      [new ResumingClient(t, SOME, { id: ['1'] }), [1]],
      [new ResumingClient(t, SOME, { id: ['3', '0', '2'] }), [0, 2, 3]],
    ]);
    for (let times = 0; times < 10; times += 1) {
      for (const client of clients.keys()) await client.connect(pods[times % 2]?.graphqlUrl ?? '');
      await sender.more(10);
      for (const client of clients.keys()) client.cut();
      await sender.more(10);
    }
    for (const client of clients.keys()) await client.connect(pods[0].graphqlUrl);
    await untilAllHave(sender, clients);
  },
);

test(
  'a pod that drains closes its sockets with 1012, and clients that resume on the other pod have missed nothing',
  needs('kafka', 'redis-server'),
  async (t) => {
    const { pods, sender } = await startPods(t, { DRAIN_SECONDS: '1' });
    const [leaving, staying] = pods;
    const clients = Array.from({ length: 20 }, (_, index) => {
      const key = index % KEYS;
      return [new ResumingClient(t, SOME, { id: [String(key)] }), [key]] as const;
    });
    await Promise.all(clients.map(([client]) => client.connect(leaving.graphqlUrl)));
    await sender.more(20);
    leaving.child.kill('SIGTERM');
    await Promise.all(
      clients.map(async ([client]) => {
        assert.equal((await client.socket?.closed)?.code, 1012);
        await client.connect(staying.graphqlUrl);
      }),
    );
    await sender.more(20);
    await untilAllHave(sender, new Map(clients));
  },
);

test(
  'sockets that have reached their maximum age are closed with 1012, and clients that resume have missed nothing',
  needs('kafka', 'redis-server'),
  async (t) => {
    const { pods, sender } = await startPods(t, { CONNECTION_MAX_AGE_SECONDS: '1' });
    const client = new ResumingClient(t, ALL);
    // A pod of a busy machine may close a socket before it has greeted the client: so a client connects again, as any does.
    const greeted = (times: number): Promise<void> =>
      client.connect(pods[times % 2]?.graphqlUrl ?? '').catch((error: unknown) => {
        assert.match(String(error), /socket (was|is) closed/);
        return greeted(times + 1);
      });
    for (let times = 0; times < 4; times += 1) {
      await greeted(times);
      assert.equal((await client.socket?.closed)?.code, 1012);
    }
    await sender.stop();
    const complete = untilAllHave(sender, new Map([[client, [0, 1, 2, 3, 4]]])).then(() => true);
    do await greeted(0);
    while (!(await Promise.race([complete, client.socket?.closed.then(() => false)])));
  },
);

test(
  'a client that resumes while Redis is away is greeted once it is back, and has missed nothing',
  needs('kafka', 'redis-server'),
  async (t) => {
    const { pods, relay, sender } = await startPods(t);
    const [one, other] = pods;
    const client = new ResumingClient(t, ALL);
    await client.connect(one.graphqlUrl);
    await sender.more(20);
    client.cut();
    await sender.more(20);
    relay.refuse();
    await other.untilMetric('sluice_bus_outages_total', 1);
    const greeted = client.connect(other.graphqlUrl);
    await other.untilMetric('sluice_connections', 1);
    assert.deepEqual(client.greetings, [true]);
    relay.admit();
    await greeted;
    await sender.more(20);
    await untilAllHave(sender, new Map([[client, [0, 1, 2, 3, 4]]]));
  },
);

const BOGUS = 1_000;

const MOST_BEFORE = 50;
const MS_PER_SCRIPT = 25;
/** The whole list, some times over: it is read 32 elements at a time. */
const MOST_READS = 500;

/** What Redis has done since its counts were reset. */
async function readsOf(
  admin: Awaited<ReturnType<typeof redisAdmin>>,
): Promise<{ scripts: number; reads: number }> {
  const counts = String(await admin.call('INFO', 'commandstats'));
  const calls = (command: string): number =>
    Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(counts)?.[1] ?? 0);
  return { scripts: calls('eval'), reads: calls('lrange') };
}

test(
  `${BOGUS} subscriptions of one socket with cursors of no use do not have Redis read for each`,
  needs('kafka', 'redis-server'),
  async (t) => {
    // The rates would have most of them wait, on a busy machine for longer than a ping may.
    const unbounded = {
      MESSAGES_PER_SECOND: '1000000',
      SUBSCRIBES_PER_SECOND: '1000000',
      LOOP_MS_PER_SECOND: '1000',
    };
    const { pods, redis, sender } = await startPods(t, { MAX_OPERATIONS: String(BOGUS), ...unbounded });
    const [pod] = pods;
    const client = new ResumingClient(t, ALL);
    await client.connect(pod.graphqlUrl);
    await sender.more(50);
    await sender.stop();
    const admin = await redisAdmin(t, redis);
    const [, epoch = ''] = client.cursor?.split('.') ?? [];
    for (const cursor of ['1.abc.0', `1.${epoch}.zzzzzzzzzz`, `1.${epoch}.0`]) {
      await admin.call('CONFIG', 'RESETSTAT');
      const began = performance.now();
      const socket = await connectAndInit(t, pod.graphqlUrl);
      for (let id = 0; id < BOGUS; id += 1) {
        const payload = { query: ALL, extensions: { resume: cursor } };
        socket.send({ id: String(id), type: 'subscribe', payload });
      }
      const greeted = (): number => socket.messages.filter(({ type }) => type === 'next').length;
      await eventually(() => assert.ok(greeted() >= BOGUS, `expected ${BOGUS} greetings, got ${greeted()}`));
      const { scripts, reads } = await readsOf(admin);
      // What the pod asks for is bounded by time.
      const most = MOST_BEFORE + (performance.now() - began) / MS_PER_SCRIPT;
      t.diagnostic(`${cursor}: ${scripts} scripts, ${reads} reads of a list`);
      assert.ok(scripts < most, `expected fewer than ${most} scripts, got ${scripts} for ${cursor}`);
      assert.ok(
        reads < MOST_READS,
        `expected fewer than ${MOST_READS} reads of a list, got ${reads} for ${cursor}`,
      );
      socket.webSocket.terminate();
      await pod.untilMetric('sluice_connections', 1);
    }
  },
);

const VIEWERS = {
  'schema.graphql': `
    type Subscription {
      bid: Bid @event(topic: "bids", history: {})
      mine: Bid @event(topic: "bids", history: {}) @auth(owner: { field: "owner_id" })
      watched: Bid @event(topic: "bids", history: {}) @filter(where: { watchers: { contains: "$viewer.id" } })
      unkept: Bid @event(topic: "asks")
    }
    type Bid { n: Int!, role: String, owner_id: ID, watchers: [ID!], reserve: Int @auth(requires: "admin") }`,
  'graph.js': `
    import { defineGraph } from 'sluice';
    export default defineGraph({
      authenticate: ({ id, role }) => (id ? { id, role } : {}),
      resolvers: { Bid: { role: (_bid, _args, ctx) => ctx.viewer.role } },
    });`,
};

const ready = sharedGateway(async (scope) =>
  startGateway(scope, { GRAPH: await graphFolder(scope, VIEWERS) }),
);

const ANN = { id: 'ann', role: 'bidder' };
const ADMIN = { id: 'eve', role: 'admin' };

test('without Redis, a client resumes at the one pod there is', async (t) => {
  const pod = await ready();
  const client = new ResumingClient(t, 'subscription { bid { n } }');
  await client.connect(pod.graphqlUrl);
  for (let n = 0; n < 10; n += 1) {
    await pod.postEvent('bids', { n });
    client.cut();
    await pod.postEvent('bids', { n: n + 100 });
    await client.connect(pod.graphqlUrl);
  }
  await eventually(() => assert.equal(client.values('n').at(-1), 109));
  const due = Array.from({ length: 10 }, (_, n) => [n, n + 100]).flat();
  assert.deepEqual(client.values('n'), due);
  assert.deepEqual(new Set(client.greetings), new Set([true]));
});

test('of the events that it has missed, a client gets what its viewer may have, and nothing of what others got', async (t) => {
  const pod = await ready();
  const query = 'subscription { bid { n role reserve } }';
  const clients = [
    { connection: ANN, client: new ResumingClient(t, query), reserve: null },
    { connection: ADMIN, client: new ResumingClient(t, query), reserve: 9 },
    { connection: {}, client: new ResumingClient(t, query), reserve: null },
  ];
  for (const { client, connection } of clients) await client.connect(pod.graphqlUrl, connection);
  for (const { client } of clients) client.cut();
  await pod.untilMetric('sluice_connections', 0);
  await pod.postEvent('bids', { n: 1, reserve: 9 });
  for (const { client, connection, reserve } of clients) {
    // Each comes after results of others have been made.
    await client.connect(pod.graphqlUrl, connection);
    await eventually(() => assert.equal(client.results.length, 1));
    assert.deepEqual(client.values('reserve'), [reserve]);
    assert.deepEqual(client.values('role'), [(connection as { role?: string }).role ?? null]);
  }
});

test('a client that resumes as another viewer gets what the other one may have', async (t) => {
  const pod = await ready();
  const mine = new ResumingClient(t, 'subscription { mine { n } }');
  const watched = new ResumingClient(t, 'subscription { watched { n } }');
  const guarded = new ResumingClient(t, 'subscription { bid { n reserve } }');
  for (const client of [mine, watched, guarded]) {
    await client.connect(pod.graphqlUrl, ADMIN);
    client.cut();
  }
  await pod.untilMetric('sluice_connections', 0);
  await pod.postEvent('bids', { n: 1, reserve: 9, owner_id: 'eve', watchers: ['eve'] });
  await pod.postEvent('bids', { n: 2, reserve: 9, owner_id: 'ann', watchers: ['ann', 'eve'] });
  for (const client of [mine, watched, guarded]) await client.connect(pod.graphqlUrl, ANN);
  await eventually(() => assert.deepEqual(guarded.values('reserve'), [null, null]));
  await eventually(() => assert.deepEqual(mine.values('n'), [2]));
  await eventually(() => assert.deepEqual(watched.values('n'), [2]));
});

test('a client whose viewer may not hold the subscription any more is refused, with a cursor too', async (t) => {
  const pod = await ready();
  const client = new ResumingClient(t, 'subscription { mine { n } }');
  await client.connect(pod.graphqlUrl, ANN);
  client.cut();
  await pod.postEvent('bids', { n: 1, owner_id: 'ann' });
  const query = 'subscription { mine { n } }';
  const socket = await subscribeWith(t, pod.graphqlUrl, { query, resume: client.cursor });
  const { type, payload } = await socket.until(({ id }) => id === '1');
  assert.equal(type, 'error');
  assert.match(JSON.stringify(payload), /UNAUTHENTICATED/);
});

test('a client that does not ask for it gets the frames that it would get without history', async (t) => {
  const pod = await ready();
  const socket = await connectAndInit(t, pod.graphqlUrl);
  const frames: string[] = [];
  socket.webSocket.on('message', (data: Buffer) => frames.push(data.toString()));
  socket.subscribe('1', 'subscription { bid { n } }');
  socket.subscribe('2', 'subscription { unkept { n } }');
  const resuming = new ResumingClient(t, 'subscription { bid { n } }');
  await resuming.connect(pod.graphqlUrl);
  await pod.untilMetric('sluice_subscribers', 3);
  await pod.postEvent('bids', { n: 1 });
  await socket.until(({ id }) => id === '1');
  await pod.postEvent('asks', { n: 1 });
  await socket.until(({ id }) => id === '2');
  const [kept = '', unkept = ''] = frames;
  assert.equal(frames.length, 2);
  assert.equal(kept, unkept.replace('"2"', '"1"').replace('unkept', 'bid'));
  assert.ok(!kept.includes('extensions'));
});

const HOSTILE: readonly [string, string][] = [
  ['a number', '1e308'],
  ['an empty string', '""'],
  ['a long string', JSON.stringify('1.a.'.repeat(10_000))],
  ['an array', '[null]'],
  ['an object', '{"__proto__":{"resume":null}}'],
  ['true', 'true'],
  ['false', 'false'],
  ['a sequence past all integers', '"1.abc.zzzzzzzzzzz"'],
  ['a negative sequence', '"1.abc.-1"'],
  ['letters that are not ASCII', '"1.абв.１"'],
];

for (const [title, value] of HOSTILE) {
  test(`with ${title} in place of a cursor, a client is greeted, and gets what comes`, async (t) => {
    const pod = await ready();
    const socket = await connectAndInit(t, pod.graphqlUrl);
    const subscribe = `{"type":"subscribe","id":"1","payload":{"query":"subscription { bid { n } }","extensions":{"resume":${value}}}}`;
    socket.send(subscribe);
    const { payload } = await socket.until(({ id }) => id === '1');
    const { data, extensions } = payload as {
      data: null;
      extensions: { cursor: string; recovered: boolean };
    };
    assert.deepEqual({ data, recovered: extensions.recovered }, { data: null, recovered: false });
    assert.match(extensions.cursor, /^1\.[0-9a-z]+\.[0-9a-z]+$/);
    await pod.untilMetric('sluice_subscribers', 1);
    await pod.postEvent('bids', { n: 1 });
    await socket.until((message) => JSON.stringify(message).includes('"n":1'));
  });
}

test('a field without history greets without a cursor', async (t) => {
  const pod = await ready();
  const socket = await subscribeWith(t, pod.graphqlUrl, {
    query: 'subscription { unkept { n } }',
    resume: null,
  });
  const { payload } = await socket.until(({ id }) => id === '1');
  assert.deepEqual(payload, { data: null, extensions: { recovered: false } });
});
