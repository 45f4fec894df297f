import assert from 'node:assert/strict';
import test, { before, type TestContext } from 'node:test';
import type { Bus } from '../../src/bus/bus.ts';
import type { HistorySettings } from '../../src/events/history-settings.ts';
import { ioredisBus } from '../../src/bus/redis/ioredis-bus.ts';
import { IoredisListening } from '../../src/bus/redis/ioredis.ts';
import { SentinelWatch } from '../../src/bus/redis/sentinel-watch.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';
import { eventually } from '../helpers/eventually.ts';
import { Inbox } from '../helpers/inbox.ts';
import { upTo } from '../helpers/numbers.ts';
import { redisAdmin, type RedisServer } from '../helpers/redis.ts';
import { startSentinels, type SentinelTrio } from '../helpers/redis-sentinel.ts';
import { fileScope } from '../helpers/scope.ts';
import { needs } from '../helpers/services.ts';
import { testBus } from './bus.ts';
import { event, numberIn, SIZE, testHistory, testKeepingAll, TOPIC, TTL_MS } from './history.ts';
import { testReplacedHistories } from './keeping.ts';

const CHANNEL = 'sentinel:kept';
const FREE_CHANNEL = 'sentinel:free';
const FREE_TOPIC = 'free';

const OPTIONS = needs('redis-server');
const scope = fileScope();
/** For tests that do not disturb it. */
let shared: SentinelTrio;
if (OPTIONS.skip === false) before(async () => void (shared = await startSentinels(scope)));

interface Settings {
  readonly lingerMs?: number;
  readonly maxChannels?: number;
  readonly histories?: ReadonlyMap<string, HistorySettings>;
}

async function startBus(t: TestContext, trio: SentinelTrio, settings: Settings = {}) {
  const metrics = new Metrics();
  const bus = ioredisBus({
    access: { sentinels: trio.sentinels.map(addressOf), master: trio.name },
    prefix: 'sentinel:',
    lingerMs: 0,
    countsSubscribers: true,
    timing: { beatMs: 100, silenceMs: 800, settleMs: 200 },
    ...settings,
    metrics,
    log: createLog('silent'),
  });
  bus.start();
  t.after(() => bus.stop());
  await eventually(() => assert.equal(bus.notReady(), undefined));
  return { bus, metrics };
}

function addressOf(text: string) {
  const [host = '', port] = text.split(':');
  return { host, port: Number(port) };
}

const kept = (keepsAll = false, ttlMs = TTL_MS): Settings => ({
  histories: new Map([[TOPIC, { size: SIZE, ttlMs, keepsAll }]]),
});

/** A bus of a Redis that holds nothing. */
async function emptied(t: TestContext, settings: Settings): Promise<Bus> {
  const admin = await redisAdmin(t, await shared.master());
  await admin.flushall();
  return (await startBus(t, shared, settings)).bus;
}

testBus('redis with Sentinel', OPTIONS, async (t, settings) => {
  const observer = await redisAdmin(t, await shared.master());
  const joins = async (channel: string) => Number((await observer.pubsub('NUMSUB', channel))[1]);
  return { ...(await startBus(t, shared, settings)), joins };
});
testHistory('redis with Sentinel', OPTIONS, (t) => emptied(t, kept()));
testKeepingAll('redis with Sentinel', OPTIONS, (t) => emptied(t, kept(true)));
testReplacedHistories('redis with Sentinel', OPTIONS, (t) => emptied(t, kept(false, 60_000)));

/** Listens to a topic that is kept and to one that is not. */
async function startPod(t: TestContext, trio: SentinelTrio) {
  const histories = new Map([[TOPIC, { size: 20_000, ttlMs: 600_000, keepsAll: false }]]);
  const { bus, metrics } = await startBus(t, trio, { histories });
  const [heard, free]: [number[], number[]] = [[], []];
  const gaps: string[] = [];
  bus.onGap((topic) => gaps.push(topic));
  await bus.subscribe(TOPIC, CHANNEL, (payload) => heard.push(numberIn(payload))).ready;
  await bus.subscribe(FREE_TOPIC, FREE_CHANNEL, (payload) => free.push(numberIn(payload))).ready;
  return { bus, metrics, heard, free, gaps };
}

/** Publishes as ingest does: what has failed is tried again. @returns how many events */
async function stream(bus: Bus, isOver: () => boolean): Promise<number> {
  let n = 0;
  while (!isOver()) {
    n += 1;
    await eventually(() => bus.publish(TOPIC, event(n, CHANNEL)));
    await eventually(() => bus.publish(FREE_TOPIC, event(n, FREE_CHANNEL)));
  }
  return n;
}

/** A copy of an event that was published again has the offset of one before: pods leave it out. */
function withoutCopies(numbers: readonly number[]): number[] {
  let last = 0;
  return numbers.filter((n) => n > last && ((last = n), true));
}

const FAULTS: Record<string, (trio: SentinelTrio, master: RedisServer) => unknown> = {
  'is killed': (_trio, master) => master.stop('SIGKILL'),
  hangs: (_trio, master) => master.signal('SIGSTOP'),
  'becomes a replica': (trio) => trio.failover(),
};

for (const [fault, happen] of Object.entries(FAULTS)) {
  test(
    `redis with Sentinel: when the master ${fault}, pods go on with the next one, and what they miss is read or told`,
    OPTIONS,
    async (t) => {
      const trio = await startSentinels(t);
      const pods = [await startPod(t, trio), await startPod(t, trio)] as const;
      const [publisher, other] = pods;
      const former = await trio.master();
      let isOver = false;
      const streaming = stream(publisher.bus, () => isOver);
      await eventually(() => assert.ok(other.heard.length > 200));
      await happen(trio, former);
      const admin = await redisAdmin(t, await trio.replaced(former));
      await eventually(async () => assert.equal((await admin.pubsub('NUMSUB', CHANNEL))[1], 2));
      const count = other.free.length;
      await eventually(() => assert.ok(other.free.length > count + 200));
      isOver = true;
      const sent = upTo(await streaming);
      for (const { heard, free, gaps, metrics } of pods) {
        await eventually(() => assert.equal(free.at(-1), sent.length));
        await eventually(() => assert.equal(heard.at(-1), sent.length));
        // A replica may be promoted before it has got the last events: then that is told.
        if (!gaps.includes(TOPIC)) assert.deepEqual(withoutCopies(heard), sent);
        if (!gaps.includes(FREE_TOPIC)) assert.deepEqual(withoutCopies(free), sent);
        assert.ok(Number((await metrics.busOutages.get()).values[0]?.value) >= 1);
      }
    },
  );
}

test(
  'redis with Sentinel: a connection to a master that hangs is made anew once another one is named, by that alone',
  OPTIONS,
  async (t) => {
    const trio = await startSentinels(t);
    const access = { sentinels: trio.sentinels.map(addressOf), master: trio.name };
    const log = createLog('silent');
    const listening = new IoredisListening({ access, watch: new SentinelWatch(access, log), log });
    let connections = 0;
    listening.start({ onReady: () => void (connections += 1), onLost: () => undefined });
    t.after(() => listening.stop());
    await eventually(() => assert.equal(connections, 1));
    const inbox = new Inbox();
    await listening.join(CHANNEL, inbox.take);
    const former = await trio.master();
    former.signal('SIGSTOP');
    const admin = await redisAdmin(t, await trio.replaced(former));
    await eventually(() => assert.equal(connections, 2));
    await admin.publish(CHANNEL, 'by the next one');
    assert.deepEqual(await inbox.until(1), ['by the next one']);
  },
);

test(
  'redis with Sentinel: a bus that no Sentinel tells the master waits for it, and says why',
  OPTIONS,
  async (t) => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line: string) => void lines.push(line) });
    const access = { sentinels: shared.sentinels.map(addressOf), master: 'other' };
    const options = { prefix: 'sentinel:', lingerMs: 0, countsSubscribers: true, metrics: new Metrics() };
    const bus = ioredisBus({ access, ...options, log });
    bus.start();
    t.after(() => bus.stop());
    await eventually(() => assert.match(lines.join(''), /Redis is out of reach/));
    assert.match(lines.join(''), /sentinel 127\.0\.0\.1:\d+ because ERR No such master with that name/);
    assert.match(String(bus.notReady()), /not been reached/);
  },
);
