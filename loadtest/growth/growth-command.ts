import { defineCommand, UsageError, wholeNumber } from '../command.ts';
import { origin } from '../report/origin.ts';
import type { Load } from '../report/report.ts';
import { saveResults } from '../report/result-files.ts';
import { tableText } from '../report/text-table.ts';
import { LONGEST_SECONDS, readSockets, socketsOption, STANDARD_LOAD } from '../run/load-options.ts';
import { interruption } from '../run/measure.ts';
import { measureGrowth, type Growth } from './growth-run.ts';

const MOST_PODS = 16;
const MOST_MASTERS = 6;

/** The most events under way: more than come in a second, so that only the rate limits the stream. */
const WINDOW = 10_000;

const COLUMNS = [
  'messages an event',
  'Redis commands an event',
  'Redis CPU an event, µs',
  'CPU of all pods an event, µs',
  'idle: Redis commands a second',
  'idle: Redis CPU, ms a second',
  'idle: CPU of a pod, ms a second',
  'share of the busiest master, %',
  'longest delay while a pod joins, ms',
];

/** The deployment that one row measures. */
interface Case {
  readonly pods: number;
  /** 0: a single Redis. */
  readonly masters: number;
  readonly toAll: boolean;
}

export const command = defineCommand({
  summary: 'what an event costs pods and Redis, and what both do when idle, with more and more of them',
  needsServices: true,
  options: {
    sockets: { ...socketsOption('400'), help: 'sockets over all pods' },
    pods: { type: 'string', default: '1,2,4,8', help: 'numbers of pods, each on a single Redis' },
    masters: {
      type: 'string',
      default: '1,2,3',
      help: 'numbers of masters in a Redis Cluster, each with two pods; 0: no cluster is measured',
    },
    rate: { type: 'string', default: '500', help: 'events a second' },
    seconds: { type: 'string', default: '10', help: 'seconds of it, and as many idle ones' },
    out: { type: 'string', help: 'file for the figures as JSON' },
  },
  prepare({ values, commandLine }) {
    const sockets = readSockets(values.sockets);
    const counts = (option: 'pods' | 'masters', least: number, most: number): number[] =>
      values[option].split(',').map((text) => wholeNumber(option, text, least, most));
    const load: Load = {
      ...STANDARD_LOAD,
      sockets,
      rate: wholeNumber('rate', values.rate, 1, 100_000),
      floodSeconds: wholeNumber('seconds', values.seconds, 1, LONGEST_SECONDS),
      window: WINDOW,
    };
    const masters = counts('masters', 0, MOST_MASTERS).filter((count) => count > 0);
    const cases: Case[] = [
      ...[true, false].flatMap((toAll) =>
        counts('pods', 1, MOST_PODS).map((pods) => ({ pods, masters: 0, toAll })),
      ),
      ...masters.map((count) => ({ pods: 2, masters: count, toAll: false })),
    ];
    if (sockets < Math.max(...cases.map(({ pods }) => pods))) {
      throw new UsageError(`--sockets: expected at least one for each pod, got ${sockets}`);
    }
    return async () => {
      const signal = interruption();
      const rows: string[][] = [];
      for (const one of cases) {
        const { pods, toAll } = one;
        const growth = await measureGrowth(
          { ...load, pods, channels: toAll ? 0 : sockets },
          one.masters,
          signal,
        );
        const name = nameOf(one);
        rows.push([name, ...figuresOf(growth, pods)]);
        console.error(`${name}: measured`);
        for (const fault of growth.faults) console.error(`✗ ${name}: ${fault}`);
        if (growth.faults.length > 0) process.exitCode = 1;
      }
      const table = { columns: ['', ...COLUMNS], rows };
      console.log(tableText(table));
      if (values.out === undefined) return;
      const title = `${sockets} sockets, ${load.rate} events a second`;
      await saveResults(values.out, {
        kind: 'growth',
        ...(await origin(commandLine)),
        tables: [{ title, ...table }],
      });
    };
  },
});

function nameOf({ pods, masters, toAll }: Case): string {
  const events = toAll ? 'every event to all' : 'a channel each';
  const redis = masters === 0 ? 'one Redis' : `topic spread over masters: ${masters}`;
  return `${events}, ${redis}, pods: ${pods}`;
}

function figuresOf({ idle, perEvent, joinDelay }: Growth, pods: number): string[] {
  const sent = perEvent.sentBytes;
  const share = Math.max(...sent) / sent.reduce((sum, bytes) => sum + bytes, 0);
  return [
    perEvent.messages.toFixed(2),
    perEvent.redisCommands.toFixed(2),
    (perEvent.redisCpuSeconds * 1e6).toFixed(0),
    (perEvent.podCpuSeconds * 1e6).toFixed(0),
    idle.redisCommands.toFixed(0),
    (idle.redisCpuSeconds * 1e3).toFixed(1),
    ((idle.podCpuSeconds / pods) * 1e3).toFixed(1),
    (share * 100).toFixed(0),
    joinDelay.toFixed(0),
  ];
}
