import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '../../src/config/config.ts';
import { Audience } from '../clients/audience.ts';
import { defineCommand, wholeNumber } from '../command.ts';
import { origin } from '../report/origin.ts';
import type { Load } from '../report/report.ts';
import { saveResults } from '../report/result-files.ts';
import { tableText } from '../report/text-table.ts';
import { readSockets, socketsOption, STANDARD_LOAD } from '../run/load-options.ts';
import { interruption } from '../run/measure.ts';
import { Producer } from '../run/producer.ts';
import { Traffic } from '../run/traffic.ts';
import { prepare } from '../run/wiring.ts';
import { percentiles } from '../statistics.ts';
import { Server } from '../targets/server-process.ts';
import { sluice } from '../targets/sluice.ts';
import type { Target } from '../targets/target.ts';
import type { AllSubscribed, StormAssignment, StormCommand } from './storm-messages.ts';

const MAIN = path.join(import.meta.dirname, 'storm-main.js');

/** A gateway with the default limit of connections a second, which this test measures. */
const TARGET: Target = {
  ...sluice,
  environment: (wiring) => ({
    ...sluice.environment(wiring),
    CONNECTIONS_PER_SECOND: String(loadConfig({}).CONNECTIONS_PER_SECOND),
  }),
};

/** A channel without events for clients that come back, so that they cost only their return. */
const QUIET_CHANNEL = 'quiet';

/** The rate at which each process connects the other clients: below the gateway's limit. */
const CONNECTED_PER_SECOND = 200;

/** The time between two looks at the number of connections. */
const LOOK_MS = 250;

/** The time between two events of the stream. */
const EVENT_MS = 100;

/** The budget: the p99 of delays in the storm, as a multiple of the p99 before. */
const MOST_RATIO = 2;

const MOST_SECONDS = 300;

interface Storm {
  readonly before: readonly number[];
  readonly during: readonly number[];
  readonly back: AllSubscribed;
  readonly faults: readonly string[];
}

export const command = defineCommand({
  summary: 'has many clients come back in the same instant, beside others that get a steady stream',
  needsServices: true,
  options: {
    sockets: { ...socketsOption('1000'), help: 'sockets that get the stream' },
    returning: { ...socketsOption('4000'), help: 'sockets that come back' },
    seconds: { type: 'string', default: '20', help: 'seconds of stream before they do' },
    out: { type: 'string', help: 'file for the figures as JSON' },
  },
  prepare({ values, commandLine }) {
    const sockets = readSockets(values.sockets);
    const returning = readSockets(values.returning);
    const seconds = wholeNumber('seconds', values.seconds, 1, MOST_SECONDS);
    return async () => {
      const { before, during, back, faults } = await measure(sockets, returning, seconds);
      const [calm, storm] = [percentiles(before), percentiles(during)];
      const ratio = storm.p99 / calm.p99;
      const rows = [
        ['delay before, p50 / p99 / max, ms', '', `${calm.p50} / ${calm.p99} / ${calm.max}`],
        ['delay in the storm, p50 / p99 / max, ms', '', `${storm.p50} / ${storm.p99} / ${storm.max}`],
        ['p99 in the storm ÷ p99 before', `≤ ${MOST_RATIO}`, ratio.toFixed(2)],
        ['until all are back, s', '', (back.ms / 1_000).toFixed(1)],
        ['connections refused until then', '', String(back.refusals)],
        ['events missed, doubled or out of order', '0', String(faults.length)],
      ];
      const table = { columns: ['figure', 'limit', 'measured'], rows };
      console.log(tableText(table));
      for (const fault of faults) console.log(fault);
      if (ratio > MOST_RATIO || faults.length > 0) process.exitCode = 1;
      if (values.out === undefined) return;
      const title = `${returning} clients come back at once, beside ${sockets} with a stream`;
      await saveResults(values.out, {
        kind: 'storm',
        ...(await origin(commandLine)),
        tables: [{ title, ...table }],
      });
    };
  },
});

async function measure(sockets: number, returning: number, seconds: number): Promise<Storm> {
  const load: Load = { ...STANDARD_LOAD, sockets, channels: 1 };
  const signal = interruption();
  const { wiring, undo } = await prepare(load);
  const stopping: (() => Promise<unknown>)[] = [undo];
  try {
    const server = await Server.start(TARGET, wiring);
    stopping.push(() => server.stop());
    const audience = new Audience(load, [server.port], CONNECTED_PER_SECOND);
    stopping.push(() => audience.stop());
    const producer = new Producer(wiring.brokers, wiring.topic);
    stopping.push(() => producer.stop());
    const endpoint = { host: '127.0.0.1', port: server.port };
    const storm = start({ endpoint, sockets: returning, variables: { channel: QUIET_CHANNEL } });
    stopping.push(() => stop(storm));

    await audience.connect();
    const traffic = new Traffic(producer, load, Audience.subscribersByChannel(load));
    await audience.reached(await traffic.sendRound());
    await ask(storm, 'open');
    await audience.report();
    await stream(traffic, delay(seconds * 1_000), signal);
    await audience.reached(traffic.events);

    const { delays: before } = await audience.report();
    storm.send('leave' satisfies StormCommand);
    while (((await server.metric('sluice_connections')) ?? 0) > sockets) await delay(LOOK_MS);
    const returned = ask(storm, 'return');
    await stream(traffic, returned, signal);
    await audience.reached(traffic.events);
    const { delays: during, faults } = await audience.report();
    return { before, during, back: await returned, faults };
  } finally {
    for (const undoing of stopping.toReversed()) await undoing();
  }
}

/** Starts the clients that come back in a process of low priority, which must not take CPU from what is measured. */
function start(assignment: StormAssignment): ChildProcess {
  const child = fork(MAIN, [JSON.stringify(assignment)], { execArgv: [] });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function ask(child: ChildProcess, message: StormCommand): Promise<AllSubscribed> {
  const answer = once(child, 'message');
  child.send(message);
  const [told] = (await answer) as [AllSubscribed];
  return told;
}

/** Sends events at a steady rate until `until` resolves. */
async function stream(traffic: Traffic, until: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  void until.then(() => over.abort());
  for (let at = performance.now(); !over.signal.aborted; at += EVENT_MS) {
    signal.throwIfAborted();
    await traffic.send(1);
    await delay(Math.max(0, at + EVENT_MS - performance.now()));
  }
}
