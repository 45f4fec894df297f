import assert from 'node:assert/strict';
import test from 'node:test';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { redisAdmin } from '../helpers/redis.ts';
import { ResumingClient } from '../helpers/resuming-client.ts';
import { needs } from '../helpers/services.ts';
import { ALL, startPods, untilAllHave } from './resuming-pods.ts';

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
      await socket.until(() => socket.messages.filter(({ type }) => type === 'next').length >= BOGUS);
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
