import { execFile, spawn } from 'node:child_process';
import { mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Audience } from '../clients/audience.ts';
import { defineCommand } from '../command.ts';
import type { Load } from '../report/report.ts';
import { OUT } from '../report/save-report.ts';
import { flood, reachAll } from '../run/flood.ts';
import { interruption } from '../run/measure.ts';
import { Producer } from '../run/producer.ts';
import { Traffic } from '../run/traffic.ts';
import { prepare } from '../run/wiring.ts';
import { Server } from '../targets/server-process.ts';
import type { Target, Wiring } from '../targets/target.ts';
import { underClinic } from './clinic-target.ts';
import { PROFILE_OPTIONS, readProfile, TOOLS, type Profile } from './profile-options.ts';

const INSTALLER = path.join(import.meta.dirname, '../../../scripts/lib/clinic.mjs');

export const command = defineCommand({
  summary: 'runs the gateway under load through node-clinic, which writes a page on where its time goes',
  positionals: TOOLS.join('|'),
  needsServices: true,
  options: PROFILE_OPTIONS,
  prepare: (args) => {
    const profile = readProfile(args);
    return () => record(profile);
  },
});

async function record({ tool, load, out }: Profile): Promise<void> {
  const signal = interruption();
  const clinic = await install(signal);
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const folder = path.resolve(out ?? path.join(OUT, `clinic-${tool}-${time}`));
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

/** @returns the path of clinic's program */
async function install(signal: AbortSignal): Promise<string> {
  const running = promisify(execFile)(process.execPath, [INSTALLER], { signal });
  running.child.stderr?.pipe(process.stderr);
  return (await running).stdout.trim();
}

/** Resolves when clinic has ended, and its records are on disk. */
async function runUnder(target: Target, load: Load, wiring: Wiring, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  console.error(`Starting the gateway through ${target.name} …`);
  const server = await Server.start(target, wiring);
  try {
    await Promise.race([putUnderLoad(server, load, wiring, signal), server.ended]);
  } finally {
    console.error('Waiting for the report …');
    await server.stop();
  }
}

async function putUnderLoad(server: Server, load: Load, wiring: Wiring, signal: AbortSignal): Promise<void> {
  const producer = new Producer(wiring.brokers, wiring.topic);
  const traffic = new Traffic(producer, load, Audience.subscribersByChannel(load));
  const audience = new Audience(load, [server.port]);
  try {
    await audience.connect();
    await reachAll(traffic, audience);
    console.error(`${load.sockets} sockets, events for ${load.floodSeconds} s …`);
    await flood(load, traffic, audience, signal);
    console.error(`${audience.deliveries} deliveries.`);
  } finally {
    await audience.stop();
    await producer.stop();
  }
}

/** @throws if clinic has written no page, or an empty one */
async function pageIn(folder: string): Promise<string> {
  const pages = (await readdir(folder)).filter((name) => name.endsWith('.html'));
  const [page] = pages.map((name) => path.join(folder, name));
  if (page === undefined || (await stat(page)).size === 0) {
    throw new Error(`expected a page of clinic's in ${folder}, got ${pages.join(', ') || 'none'}`);
  }
  return page;
}

/** Opens the page on a desktop. Without one, the user has the path of the page. */
function show(page: string): void {
  const child = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [page], {
    stdio: 'ignore',
    detached: true,
  });
  child.on('error', () => undefined);
  child.unref();
}
