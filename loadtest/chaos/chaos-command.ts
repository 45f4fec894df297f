import { existsSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../../src/errors.ts';
import { choice, defineCommand, UsageError, wholeNumber } from '../command.ts';
import { origin } from '../report/origin.ts';
import { saveResults } from '../report/result-files.ts';
import type { NamedTable } from '../report/sections/tables-section.ts';
import { tableText } from '../report/text-table.ts';
import { interruption } from '../run/measure.ts';
import { accountTable } from './account-table.ts';
import { REDIS_KINDS } from './chaos-redis.ts';
import { runScenario } from './chaos-run.ts';
import { RunScope } from '../run/run-scope.ts';
import { SCENARIOS, type ScenarioName } from './scenarios.ts';
import type { Deployment, Scenario, Size } from './world.ts';

const NAMES = Object.keys(SCENARIOS) as ScenarioName[];

/** A run that takes longer hangs. */
const LONGEST_MS = 600_000;

/** The gateway's program, in the folder of a built version. */
const PROGRAM = 'dist/src/cli.js';

const MOST_FAILURES_SHOWN = 20;

/** Defaults that differ: the storm has more clients and fewer events for each; faults last for different times. */
const STANDARD: Partial<Record<ScenarioName, Partial<Pick<Size, 'clients' | 'perSecond' | 'faultSeconds'>>>> =
  {
    cuts: { faultSeconds: 60 },
    storm: { clients: 4_000, perSecond: 10, faultSeconds: 3 },
    'redis-killed': { faultSeconds: 2 },
    'redis-emptied': { faultSeconds: 2 },
    failover: { faultSeconds: 2 },
  };

export const command = defineCommand({
  summary: 'has pods, Redis and connections fail under a stream, and accounts for each event of each client',
  positionals: `<${NAMES.join(' | ')}>…`,
  needsServices: true,
  programs: ['nginx', 'redis-server'],
  options: {
    clients: { type: 'string', help: 'clients that resume, one subscription each (1000; storm: 4000)' },
    pods: { type: 'string', default: '2', help: 'gateways behind nginx' },
    channels: { type: 'string', default: '10', help: 'keys that events and clients are dealt out to' },
    rate: { type: 'string', help: 'events a second, over all channels (40; storm: 10)' },
    seconds: { type: 'string', default: '5', help: 'seconds of stream before what happens, and after it' },
    lasting: {
      type: 'string',
      help: 'seconds of what lasts (cuts: 60; storm: 3; Redis that is away: 2; frozen: 10)',
    },
    before: {
      type: 'string',
      help: 'built folder of another version: rolling goes from it to this one, back and again',
    },
    redis: {
      type: 'string',
      default: 'single',
      help: 'single, sentinel or cluster; what happens, happens to all masters that there are at first',
    },
    stock: {
      type: 'boolean',
      help: 'clients know nothing of cursors and gaps, and subscribe to a field without history',
    },
    settings: { type: 'string', default: '', help: 'of the pods, NAME=value, separated by spaces' },
    logs: { type: 'boolean', help: 'show what the pods have complained of, also where all is well' },
    out: { type: 'string', help: 'file for the accounts as JSON' },
  },
  prepare({ values, positionals, commandLine }) {
    if (positionals.length === 0) throw new UsageError(`expected one of ${NAMES.join(', ')}, got nothing`);
    const names = positionals.map((name) => choice('scenario', name, NAMES));
    const sizeOf = (name: ScenarioName): Size => {
      const { clients = 1_000, perSecond = 40, faultSeconds = 10 } = STANDARD[name] ?? {};
      return {
        clients: wholeNumber('clients', values.clients ?? String(clients), 1, 10_000),
        pods: wholeNumber('pods', values.pods, 2, 4),
        channels: wholeNumber('channels', values.channels, 1, 100),
        perSecond: wholeNumber('rate', values.rate ?? String(perSecond), 1, 500),
        calmSeconds: wholeNumber('seconds', values.seconds, 1, 60),
        faultSeconds: wholeNumber('lasting', values.lasting ?? String(faultSeconds), 1, 120),
        stock: values.stock === true,
      };
    };
    const deployment: Deployment = {
      ...(values.before !== undefined && { before: path.resolve(values.before, PROGRAM) }),
      redis: choice('redis', values.redis, REDIS_KINDS),
      settings: settingsIn(values.settings),
    };
    for (const name of names) checkDeployment(name, deployment);
    const runs = names.map((name) => ({ name, size: sizeOf(name) }));
    return async () => {
      const signal = interruption();
      const [tables, accounts]: [NamedTable[], object[]] = [[], []];
      for (const { name, size } of runs) {
        const { sent, reports, failures, complaints } = await bounded(signal, (scope) =>
          runScenario(scope, name, size, (text) => console.error(`${name}: ${text}`), deployment),
        );
        const title = `${name}: ${SCENARIOS[name].summary}; promised: ${SCENARIOS[name].promised}; ${sent} events`;
        const table = accountTable(reports);
        tables.push({ title, ...table });
        accounts.push({ scenario: name, size, failures, clients: reports });
        console.log(`\n${title}\n${tableText(table)}`);
        for (const failure of failures.slice(0, MOST_FAILURES_SHOWN)) console.log(failure);
        if (failures.length > 0) {
          console.log(`${name}: not kept, ${failures.length} failures`);
          process.exitCode = 1;
        }
        if (failures.length > 0 || values.logs) for (const complaint of complaints) console.log(complaint);
      }
      if (values.out === undefined) return;
      const results = { kind: 'chaos', ...(await origin(commandLine)), tables, accounts } as const;
      await saveResults(values.out, results);
    };
  },
});

/** @param text names and values, separated by spaces */
function settingsIn(text: string): Record<string, string> {
  const items = text.split(' ').filter((item) => item !== '');
  return Object.fromEntries(
    items.map((item) => {
      const [, name, value] = /^([A-Z_\d]+)=(.*)$/.exec(item) ?? [];
      if (name === undefined || value === undefined)
        throw new UsageError(`--settings: expected NAME=value, got ${item}`);
      return [name, value];
    }),
  );
}

/** @throws UsageError if a scenario does not work with this deployment */
function checkDeployment(name: ScenarioName, { before, redis }: Deployment): void {
  const scenario: Scenario = SCENARIOS[name];
  if (redis !== 'single' && scenario.needsSingle === true)
    throw new UsageError(`--redis: expected single for ${name}, got ${redis}`);
  if (before === undefined) return;
  if (name !== 'rolling') throw new UsageError(`--before: expected rolling, got ${name}`);
  if (!existsSync(before))
    throw new UsageError(`--before: expected a folder with ${PROGRAM}, got none at ${before}`);
}

/** Ends all that the work has started, also when it is interrupted or takes too long. */
async function bounded<T>(signal: AbortSignal, work: (scope: RunScope) => Promise<T>): Promise<T> {
  const scope = new RunScope();
  const either = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
  const ended = new Promise<never>((_, reject) => {
    either.addEventListener('abort', () => reject(either.reason as Error), { once: true });
  });
  ended.catch(() => undefined);
  const working = work(scope);
  working.catch(() => undefined);
  try {
    return await Promise.race([working, ended]);
  } finally {
    await scope.end();
    if (either.aborted) {
      console.error(messageOf(either.reason));
      // Timers of the interrupted work would keep the process alive for some more minutes.
      process.exit(1);
    }
  }
}
