import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import type { Scope } from '../helpers/scope.ts';
import type { SessionCounts } from './hostile-process.ts';
import { KINDS } from './session.ts';
import { Witness } from './witness.ts';

export interface FuzzOptions {
  readonly seed: number;
  readonly seconds: number;
  /** The number of hostile clients at a time. */
  readonly clients: number;
}

export interface FuzzReport {
  /** Things that clients have caused and must not; empty: there are none. */
  readonly violations: readonly string[];
  readonly sessions: SessionCounts;
  /** The number of events that the honest client got. */
  readonly events: number;
  /** Delays from sending an event until the honest client got it, in ms. */
  readonly delays: { readonly p50: number; readonly p99: number; readonly max: number };
  /** The gateway's heap after a collection of garbage, in MB. */
  readonly heap: { readonly before: number; readonly after: number };
}

/** The pino level from which on a line means a fault of the gateway itself. */
const ERROR_LEVEL = 50;

/** The limit of the heap's growth, in MB: compiled code, full caches and metrics stay. */
const KEPT_MB = 30;

/** The bus keeps requested channels as long as the bundled graph says; this limit adds time for its timers. */
const HISTORY_MS = 150_000;

const HOSTILE = path.join(import.meta.dirname, 'hostile-process.js');

/** Attacks a gateway with the bundled graph by hostile clients, beside an honest client that must not be affected. */
export async function fuzz(scope: Scope, { seed, seconds, clients }: FuzzOptions): Promise<FuzzReport> {
  const gateway = await startGateway(scope, { SIMULATOR: 'false', CHANNEL_LINGER_MS: '500' });
  const before = await heapOf(gateway);
  const witness = new Witness(gateway);
  await witness.start();
  const ending = new AbortController();
  const watching = witness.run(ending.signal);
  const sessions = await attack(scope, gateway, [gateway.port, seed, clients].map(String), seconds);
  ending.abort();
  const ended = await Promise.race([watching.then(() => undefined), once(gateway.child, 'exit')]);
  const violations = [...witness.faults];
  for (const line of gateway.lines.filter(({ level }) => level >= ERROR_LEVEL)) {
    violations.push(`logged: ${JSON.stringify(line).slice(0, 500)}`);
  }
  if (gateway.stderr !== '') violations.push(`written to standard error: ${gateway.stderr.slice(0, 2_000)}`);
  let after = NaN;
  if (ended !== undefined) violations.push(`the gateway ended with ${String(ended[0] ?? ended[1])}`);
  else {
    violations.push(...(await untilIdle(gateway)));
    const isBack = async (): Promise<void> => {
      after = await heapOf(gateway);
      if (after - before > KEPT_MB) throw new Error(`the heap was ${before} MB and is ${after} MB`);
    };
    await eventually(isBack, { withinMs: HISTORY_MS }).catch((error: Error) =>
      violations.push(error.message),
    );
  }
  return {
    violations,
    sessions,
    events: witness.count,
    delays: { p50: witness.delay(0.5), p99: witness.delay(0.99), max: witness.delay(1) },
    heap: { before, after },
  };
}

async function attack(
  scope: Scope,
  gateway: GatewayProcess,
  args: readonly string[],
  seconds: number,
): Promise<SessionCounts> {
  const hostile = fork(HOSTILE, args);
  scope.after(() => hostile.kill());
  let counts: SessionCounts | undefined;
  hostile.on('message', (told) => (counts = told as SessionCounts));
  const exit = once(hostile, 'exit');
  const over = Promise.race([once(gateway.child, 'exit'), exit]);
  await Promise.race([delay(seconds * 1_000), over]);
  // On a busy machine, some kinds of sessions have not run by then.
  const eachKind = eventually(() => {
    const missing = KINDS.filter((kind) => (counts?.[kind] ?? 0) === 0);
    if (missing.length > 0) throw new Error(`there has been no session of ${missing.join(', ')}`);
  });
  await Promise.race([eachKind.catch(() => undefined), over]);
  if (hostile.connected) hostile.send('stop');
  const [code] = (await exit) as [number | null];
  if (code !== 0 || counts === undefined) {
    throw new Error(`expected the hostile clients to run to their end, but they ended with ${code}`);
  }
  return counts;
}

/** Waits until the gateway holds nothing of any client. @returns the metrics that do not become 0 */
async function untilIdle(gateway: GatewayProcess): Promise<string[]> {
  const faults: string[] = [];
  for (const name of ['sluice_connections', 'sluice_subscribers', 'sluice_groups', 'sluice_channels']) {
    await eventually(async () => {
      const left = await gateway.metric(name);
      if (left !== 0) throw new Error(`${name} is ${left}, though all clients have gone`);
    }).catch((error: Error) => faults.push(error.message));
  }
  return faults;
}

/** V8 collects all garbage before it takes a snapshot. */
async function heapOf(gateway: GatewayProcess): Promise<number> {
  const snapshot = await fetch(`${gateway.adminUrl}/debug/heap-snapshot`);
  if (!snapshot.ok) throw new Error(await snapshot.text());
  for await (const chunk of snapshot.body ?? []) void chunk;
  return Math.round((await gateway.metric('nodejs_heap_size_used_bytes')) / 1e6);
}
