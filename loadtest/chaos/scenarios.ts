import { percentiles } from '../statistics.ts';
import { describeStorm, StormCounters, stormComplaints } from './storm-figures.ts';
import { passes, type Scenario, type World } from './world.ts';

/** The share of all clients that is cut each second. */
const CUT_SHARE = 0.1;
const CUTS_PER_SECOND = 10;

/** How often Redis closes the connections by which pods listen. */
const KILLS = 3;

/** The replica lacks the writes of this many seconds. */
const LACKED_SECONDS = 2;

/** The share of the clients that resume after a fault of Redis. */
const SOME = 0.3;

async function killAndStart(world: World): Promise<void> {
  await world.redis.kill();
  await passes(world.size.faultSeconds);
  await world.redis.start();
  await resumeSome(world);
}

/** Some clients resume with cursors from before the fault. */
async function resumeSome(world: World): Promise<void> {
  await passes(world.size.calmSeconds);
  await cutSome(world);
}

/** Cuts some clients, but no stock clients: without cursors, they would lose the events that come meanwhile. */
async function cutSome({ crowd, size }: World): Promise<void> {
  if (size.stock) return;
  await Promise.all(crowd.map((clients) => clients.cut(SOME)));
}

/** The scenarios, by their names on the command line. */
export const SCENARIOS = {
  rolling: {
    summary: 'all pods are replaced, one by one',
    promised: 'everything',
    async happen(world) {
      const complaints: string[] = [];
      for (const cli of world.pods.rollouts) {
        for (const old of world.pods.now) {
          const code = await world.pods.replace(old, cli);
          if (code !== 0) complaints.push(`expected a pod that drains to end with 0, got ${code}`);
          await world.untilGreeted();
          world.say(`a pod has been replaced by one of ${cli ?? 'this version'}`);
        }
      }
      return complaints;
    },
  },
  'pod-killed': {
    summary: 'a pod is killed, and another one comes in its place',
    promised: 'everything',
    async happen({ pods }) {
      const [first] = pods.now;
      if (first !== undefined) await pods.kill(first);
    },
  },
  'subscribers-killed': {
    summary: 'Redis closes the connections by which pods listen, three times',
    promised: 'everything',
    async happen(world) {
      const { redis, size } = world;
      for (let kill = 0; kill < KILLS; kill += 1) {
        await redis.killSubscribers();
        await passes(size.calmSeconds);
      }
      await resumeSome(world);
    },
  },
  'redis-frozen': {
    summary: 'Redis stands still',
    promised: 'everything',
    async happen(world) {
      world.redis.freeze();
      await passes(world.size.faultSeconds);
      world.redis.thaw();
      await resumeSome(world);
    },
  },
  'redis-killed': {
    summary: 'Redis is killed, and back with its data',
    promised: 'everything',
    redisKeeps: true,
    happen: killAndStart,
  },
  'redis-emptied': {
    summary: 'Redis is killed, and back without its data',
    promised: 'everything or told',
    needsSingle: true,
    happen: killAndStart,
  },
  failover: {
    summary: 'Redis is killed, and a replica that lacks the last writes takes its place',
    promised: 'everything or told',
    hasReplica: true,
    needsSingle: true,
    async happen(world) {
      const { redis, size } = world;
      await redis.detachReplica();
      await passes(LACKED_SECONDS);
      // These clients resume from events that the replica does not have.
      await cutSome(world);
      await redis.kill();
      await passes(size.faultSeconds);
      await redis.failOver();
      await resumeSome(world);
    },
  },
  cuts: {
    summary: 'a tenth of the clients loses its connection in each second, at random',
    promised: 'everything',
    async happen({ crowd, size }) {
      for (let cut = 0; cut < size.faultSeconds * CUTS_PER_SECOND; cut += 1) {
        await Promise.all(crowd.map((clients) => clients.cut(CUT_SHARE / CUTS_PER_SECOND)));
        await passes(1 / CUTS_PER_SECOND);
      }
    },
  },
  storm: {
    summary: 'all clients lose their connections, and resume in the same instant, beside others that stay',
    promised: 'everything',
    stayers: { clients: 20, perSecond: 50 },
    needsSingle: true,
    async happen(world) {
      const { crowd, stayers } = world;
      const timed = async (): Promise<number> =>
        percentiles((await Promise.all(stayers.map((some) => some.delays()))).flat()).p99;
      await timed(); // Drops the delays of the start.
      await passes(world.size.calmSeconds);
      const before = await timed();
      await Promise.all(crowd.map((clients) => clients.leave()));
      const counters = await StormCounters.start(world);
      await passes(world.size.faultSeconds);
      await timed(); // Drops the delays between calm and storm.
      await Promise.all(crowd.map((clients) => clients.return()));
      await world.untilGreeted();
      await world.untilComplete();
      const during = await timed();
      const figures = await counters.stop({ before, during });
      world.say(describeStorm(figures));
      return stormComplaints(figures);
    },
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;
