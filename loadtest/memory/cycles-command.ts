/**
 * `yarn loadtest:cycles`: clients connect, subscribe and leave, many times over. What the heap gains from it, and what is
 * left at the end: no group, no channel, no subscription to Redis.
 */
import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { origin, prepare } from '../run/environment.ts';
import { interruption } from '../run/measure.ts';
import { parseOptions } from '../run/load-options.ts';
import { Server } from '../targets/server-process.ts';
import { sluice } from '../targets/sluice.ts';
import type { Wiring } from '../targets/target.ts';
import { cycle } from './client-cycle.ts';
import { slope } from '../cycles/slope.ts';

/** Clients under way at once. */
const AT_ONCE = 50;

/** Channels that they choose from: few enough that some are shared, and all are left again. */
const CHANNELS = 100;

/** Measured so often, so that one collection of garbage decides nothing. */
const POINTS = 18;

/** DESIGN: bytes a cycle. */
const MOST_BYTES = 10;

const LEFT_OVER = ['connections', 'subscribers', 'groups', 'channels'];
const LINGER_MS = 30_000;

interface Point {
  readonly cycles: number;
  readonly heapBytes: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      'warm-up': { type: 'string', default: '10000' },
      cycles: { type: 'string', default: '90000' },
      out: { type: 'string' },
    },
  });
  const [warmUp, cycles] = [Number(values['warm-up']), Number(values.cycles)];
  const signal = interruption();
  const { load } = parseOptions([], []);
  const { wiring, undo } = await prepare({ ...load, channels: CHANNELS });
  let server: Server | undefined;
  try {
    server = await Server.start(sluice, wiring);
    const points = await measured(server, warmUp, cycles, signal);
    const bytes = slope(points.map(({ cycles: x, heapBytes: y }) => ({ x, y })));
    const left = await leftOver(server, wiring);
    const rows: [string, string, string][] = [
      ['heap gained per cycle, bytes', `≤ ${MOST_BYTES}`, bytes.toFixed(1)],
      ...Object.entries(left).map(([name, count]): [string, string, string] => [name, '0', String(count)]),
    ];
    for (const row of rows) console.log(`${row[0].padEnd(34)} ${row[1].padStart(5)} ${row[2].padStart(8)}`);
    if (bytes > MOST_BYTES || Object.values(left).some((count) => count !== 0)) process.exitCode = 1;
    if (values.out !== undefined) {
      const made = await origin(`yarn loadtest:cycles --warm-up ${warmUp} --cycles ${cycles}`);
      const title = `Connecting, subscribing and leaving, ${cycles} times after ${warmUp} to warm up`;
      const tables = [{ title, columns: ['figure', 'limit', 'measured'], rows }];
      await writeFile(values.out, JSON.stringify({ kind: 'cycles', ...made, tables }, null, 2));
    }
  } finally {
    await server?.stop();
    await undo();
  }
}

async function measured(
  server: Server,
  warmUp: number,
  cycles: number,
  signal: AbortSignal,
): Promise<Point[]> {
  await run(server, 0, warmUp, signal);
  const points = [{ cycles: 0, heapBytes: (await server.ask('collect')).heapBytes }];
  for (let point = 1; point <= POINTS; point += 1) {
    const from = Math.round((cycles * (point - 1)) / POINTS);
    const to = Math.round((cycles * point) / POINTS);
    await run(server, warmUp + from, warmUp + to, signal);
    const { heapBytes } = await server.ask('collect');
    console.error(`${to} cycles: ${(heapBytes / 1e6).toFixed(2)} MB on the heap`);
    points.push({ cycles: to, heapBytes });
  }
  return points;
}

async function run({ port }: Server, from: number, to: number, signal: AbortSignal): Promise<void> {
  let next = from;
  const one = async (): Promise<void> => {
    while (next < to) {
      signal.throwIfAborted();
      await cycle(port, next++, CHANNELS);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** What the server and Redis still hold, once channels are given up. */
async function leftOver(server: Server, { redisUrl, id }: Wiring): Promise<Record<string, number>> {
  const redis = new Redis(redisUrl);
  try {
    const look = async (): Promise<Record<string, number>> => {
      const counts = await Promise.all(LEFT_OVER.map((name) => server.metric(`sluice_${name}`)));
      const channels = (await redis.pubsub('CHANNELS', `${id}:*`)) as string[];
      return {
        ...Object.fromEntries(LEFT_OVER.map((name, index) => [name, counts[index] ?? 0])),
        'subscriptions to Redis': channels.length,
      };
    };
    const until = performance.now() + LINGER_MS;
    for (;;) {
      const left = await look();
      if (Object.values(left).every((count) => count === 0) || performance.now() > until) return left;
      await delay(250);
    }
  } finally {
    redis.disconnect();
  }
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
