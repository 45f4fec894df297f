/** `yarn clinic doctor|flame`: the gateway under load through node-clinic, which writes a page on where its time goes. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Audience } from '../clients/audience.ts';
import { prepare } from '../run/environment.ts';
import { flood, reachEverybody } from '../run/flood.ts';
import { interruption } from '../run/measure.ts';
import { Producer } from '../run/producer.ts';
import type { Load } from '../report/report.ts';
import { Server } from '../targets/server-process.ts';
import type { Target, Wiring } from '../targets/target.ts';
import { Traffic } from '../run/traffic.ts';
import { parseClinicOptions, USAGE } from './profile-options.ts';
import { underClinic } from './clinic-target.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const INSTALLER = path.join(ROOT, 'scripts/lib/clinic.mjs');

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) {
    console.log(USAGE);
    return;
  }
  const { tool, load, out } = parseClinicOptions(args);
  const signal = interruption();
  const clinic = await install(signal);
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const folder = path.resolve(out ?? path.join(ROOT, 'loadtest/out', `clinic-${tool}-${time}`));
  await mkdir(folder, { recursive: true });
  const { wiring, undo } = await prepare(load);
  try {
    await runUnder(underClinic(clinic, tool, folder), load, wiring, signal);
  } finally {
    await undo();
  }
  const page = await pageIn(folder);
  console.log(path.relative(process.cwd(), page));
  if (process.stdout.isTTY) show(page);
}

/** @returns path of clinic's program */
async function install(signal: AbortSignal): Promise<string> {
  const running = promisify(execFile)(process.execPath, [INSTALLER], { signal });
  running.child.stderr?.pipe(process.stderr);
  return (await running).stdout.trim();
}

/** Resolves when clinic has ended, and what it has recorded is on disk. */
async function runUnder(target: Target, load: Load, wiring: Wiring, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  console.error(`Starting the gateway through ${target.name} …`);
  const server = await Server.start(target, wiring);
  try {
    await Promise.race([putUnderLoad(server, load, wiring, signal), server.ended]);
  } finally {
    console.error(`Waiting for the report …`);
    await server.stop();
  }
}

async function putUnderLoad(server: Server, load: Load, wiring: Wiring, signal: AbortSignal): Promise<void> {
  const producer = new Producer(wiring.brokers, wiring.topic);
  const traffic = new Traffic(producer, load, Audience.watchersOf(load, { reading: false }));
  const audience = new Audience(load, [server.port]);
  try {
    await audience.connect();
    await reachEverybody(traffic, audience);
    console.error(`${load.sockets} sockets, events for ${load.floodSeconds} s …`);
    await flood(load, traffic, audience, signal);
    console.error(`${audience.deliveries} deliveries.`);
  } finally {
    await audience.stop();
    await producer.stop();
  }
}

/** @throws if clinic has written none, or an empty one */
async function pageIn(folder: string): Promise<string> {
  const pages = (await readdir(folder)).filter((name) => name.endsWith('.html'));
  const [page] = pages.map((name) => path.join(folder, name));
  if (page === undefined || (await stat(page)).size === 0) {
    throw new Error(`expected a page of clinic's in ${folder}, got ${pages.join(', ') || 'none'}`);
  }
  return page;
}

/** On a desktop. Where there is none, the page has been named. */
function show(page: string): void {
  const child = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [page], {
    stdio: 'ignore',
    detached: true,
  });
  child.on('error', () => undefined);
  child.unref();
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
