import { setTimeout as delay } from 'node:timers/promises';
import { Audience } from '../clients/audience.ts';
import { RunScope } from '../run/run-scope.ts';
import type { Load } from '../report/report.ts';
import { flood, reachAll } from '../run/flood.ts';
import { Producer } from '../run/producer.ts';
import { Sampler } from '../run/sampler.ts';
import { Traffic } from '../run/traffic.ts';
import { TrafficMeter } from '../run/traffic-meter.ts';
import { percentiles } from '../statistics.ts';
import { prepare } from '../run/wiring.ts';
import { Pods } from '../targets/pods.ts';
import { sluice } from '../targets/sluice.ts';
import { GrowthRedis } from './growth-redis.ts';

/** V8 compiles code only after some runs. */
const WARM_UP_EVENTS = 300;

/** The work of all pods and all masters. */
interface Work {
  readonly podCpuSeconds: number;
  readonly redisCpuSeconds: number;
  readonly redisCommands: number;
  /** Messages that have come to pods from Redis. */
  readonly messages: number;
  /** Bytes that each master has sent. */
  readonly sentBytes: readonly number[];
}

export interface Growth {
  /** In one second without events. */
  readonly idle: Work;
  /** For each event, less the work of the same time without events. */
  readonly perEvent: Work;
  /** From writing an event to Kafka to its receipt, in ms: the longest while one more pod joins the consumer group. */
  readonly joinDelay: number;
  readonly faults: readonly string[];
}

/**
 * Measures the work of pods and Redis while all are idle, and then for each event of a steady stream.
 *
 * @param load the stream has its `rate` for `floodSeconds`; the idle time is as long
 * @param masters the number of masters of a cluster; 0: a single Redis
 */
export async function measureGrowth(load: Load, masters: number, signal: AbortSignal): Promise<Growth> {
  const scope = new RunScope();
  try {
    const redis = await GrowthRedis.start(scope, masters);
    const { wiring: prepared, undo } = await prepare(load);
    scope.after(undo);
    const wiring = { ...prepared, ...redis.wiring };
    const pods = new Pods();
    scope.after(() => pods.stop());
    await pods.start(sluice, wiring, load.pods);
    const audience = new Audience(
      load,
      pods.servers.map(({ port }) => port),
    );
    scope.after(() => audience.stop());
    const producer = new Producer(wiring.brokers, wiring.topic);
    scope.after(() => producer.stop());
    const traffic = new Traffic(producer, load, Audience.subscribersByChannel(load));
    const sampler = new Sampler(
      pods,
      traffic,
      () => audience,
      () => undefined,
    );
    scope.after(() => sampler.stop());
    const meter = new TrafficMeter(traffic, audience, pods, sampler);

    await audience.connect();
    await reachAll(traffic, audience);
    await traffic.send(WARM_UP_EVENTS);
    await meter.drained();

    const idle = await workDuring(pods, redis, () => delay(load.floodSeconds * 1_000, undefined, { signal }));
    const before = traffic.events;
    const busy = await workDuring(pods, redis, async () => {
      await flood(load, traffic, audience, signal);
      await meter.drained();
    });
    await meter.report();
    const events = traffic.events - before;
    const joined = pods.start(sluice, wiring, load.pods + 1).then(() => true);
    joined.catch(() => undefined);
    do await flood({ ...load, floodSeconds: 1 }, traffic, audience, signal);
    while (!(await Promise.race([joined, false])));
    await meter.drained();
    const { delays } = await meter.report();
    const idleSecond = divided(idle.work, idle.seconds);
    const above = less(busy.work, divided(idle.work, idle.seconds / busy.seconds));
    return {
      idle: idleSecond,
      perEvent: divided(above, events),
      joinDelay: percentiles(delays).max,
      faults: meter.faults,
    };
  } finally {
    await scope.end();
  }
}

async function workDuring(
  pods: Pods,
  redis: GrowthRedis,
  during: () => Promise<unknown>,
): Promise<{ readonly work: Work; readonly seconds: number }> {
  const before = await workOf(pods, redis);
  const from = performance.now();
  await during();
  const seconds = (performance.now() - from) / 1_000;
  return { work: less(await workOf(pods, redis), before), seconds };
}

async function workOf(pods: Pods, redis: GrowthRedis): Promise<Work> {
  const { cpuSeconds } = pods.usage;
  const usages = await redis.usages();
  const messages = await Promise.all(pods.servers.map((server) => server.metric('sluice_messages_total')));
  return {
    podCpuSeconds: cpuSeconds,
    redisCpuSeconds: sum(usages.map((usage) => usage.cpuSeconds)),
    redisCommands: sum(usages.map(({ commands }) => commands)),
    messages: sum(messages.map((count) => count ?? Number.NaN)),
    sentBytes: usages.map(({ sentBytes }) => sentBytes),
  };
}

const divided = (work: Work, by: number): Work => combined(work, work, (value) => value / by);

const less = (work: Work, other: Work): Work => combined(work, other, (value, than) => value - than);

function combined(one: Work, other: Work, by: (one: number, other: number) => number): Work {
  return {
    podCpuSeconds: by(one.podCpuSeconds, other.podCpuSeconds),
    redisCpuSeconds: by(one.redisCpuSeconds, other.redisCpuSeconds),
    redisCommands: by(one.redisCommands, other.redisCommands),
    messages: by(one.messages, other.messages),
    sentBytes: one.sentBytes.map((bytes, index) => by(bytes, other.sentBytes[index] ?? 0)),
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
