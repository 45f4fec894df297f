import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { defineCommand, wholeNumber } from '../command.ts';
import { origin } from '../report/origin.ts';
import { saveResults } from '../report/result-files.ts';
import { tableText } from '../report/text-table.ts';
import { STANDARD_LOAD } from '../run/load-options.ts';
import { interruption } from '../run/measure.ts';
import { prepare } from '../run/wiring.ts';
import { slope } from '../statistics.ts';
import { Server } from '../targets/server-process.ts';
import { sluice } from '../targets/sluice.ts';
import type { Wiring } from '../targets/target.ts';
import { cycle } from './client-cycle.ts';

/** Clients that connect, subscribe and leave at the same time. */
const AT_ONCE = 50;

/** The number of channels to choose from: few enough that clients share some, and leave each of them again. */
const CHANNELS = 100;

/** The number of measurements: enough that a single collection of garbage does not distort the slope. */
const POINTS = 18;

/** The budget, in bytes for each cycle. */
const MOST_BYTES = 10;

/** Counts of the gateway that must be 0 when all clients have left. */
const LEFT_OVER = ['connections', 'subscribers', 'groups', 'channels'];
const LINGER_MS = 30_000;

const MOST_CYCLES = 10_000_000;

interface Point {
  readonly cycles: number;
  readonly heapBytes: number;
}

export const command = defineCommand({
  summary: 'connects, subscribes and leaves many times; fails if the heap grows or anything is left of it',
  needsServices: true,
  options: {
    'warm-up': { type: 'string', default: '10000', help: 'cycles before the heap is measured' },
    cycles: { type: 'string', default: '90000', help: 'cycles over which the heap is measured' },
    out: { type: 'string', help: 'file for the figures as JSON' },
  },
  prepare({ values, commandLine }) {
    const warmUp = wholeNumber('warm-up', values['warm-up'], 0, MOST_CYCLES);
    const cycles = wholeNumber('cycles', values.cycles, POINTS, MOST_CYCLES);
    return async () => {
      const { bytes, left } = await measured(warmUp, cycles);
      const rows = [
        ['heap gained per cycle, bytes', `≤ ${MOST_BYTES}`, bytes.toFixed(1)],
        ...Object.entries(left).map(([name, count]) => [name, '0', String(count)]),
      ];
      const table = { columns: ['figure', 'limit', 'measured'], rows };
      console.log(tableText(table));
      if (bytes > MOST_BYTES || Object.values(left).some((count) => count !== 0)) process.exitCode = 1;
      if (values.out === undefined) return;
      const title = `Connecting, subscribing and leaving, ${cycles} times after ${warmUp} to warm up`;
      const made = await origin(commandLine);
      await saveResults(values.out, { kind: 'cycles', ...made, tables: [{ title, ...table }] });
    };
  },
});

/** @returns the bytes that the heap gains in a cycle, and the counts that are left at the end, by name */
async function measured(
  warmUp: number,
  cycles: number,
): Promise<{ readonly bytes: number; readonly left: Readonly<Record<string, number>> }> {
  const signal = interruption();
  const { wiring, undo } = await prepare({ ...STANDARD_LOAD, channels: CHANNELS });
  let server: Server | undefined;
  try {
    server = await Server.start(sluice, wiring);
    const points = await heapOver(server, warmUp, cycles, signal);
    const bytes = slope(points.map(({ cycles: x, heapBytes: y }) => ({ x, y })));
    return { bytes, left: await leftOver(server, wiring) };
  } finally {
    await server?.stop();
    await undo();
  }
}

async function heapOver(
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

/** @throws if the gateway has no such metric: the check could not fail then */
async function counted(server: Server, name: string): Promise<readonly [string, number]> {
  const count = await server.metric(`sluice_${name}`);
  if (count === undefined) throw new Error(`expected the gateway to count ${name}, got no such metric`);
  return [name, count];
}

/** Returns the counts of the server and Redis when all are 0, or after LINGER_MS: channels are kept for a while. */
async function leftOver(server: Server, { redisUrl, id }: Wiring): Promise<Record<string, number>> {
  const redis = new Redis(redisUrl);
  try {
    const look = async (): Promise<Record<string, number>> => {
      const counts = await Promise.all(LEFT_OVER.map((name) => counted(server, name)));
      const channels = (await redis.pubsub('CHANNELS', `${id}:*`)) as string[];
      return {
        ...Object.fromEntries(counts),
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
