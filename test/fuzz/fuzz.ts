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
  /** Hostile clients at a time. */
  readonly clients: number;
}

export interface FuzzReport {
  /** What a client may not bring about and has; empty: all is well. */
  readonly violations: readonly string[];
  readonly sessions: SessionCounts;
  /** Events that the honest client got. */
  readonly events: number;
  /** From sending an event to the honest client's getting it: ms. */
  readonly delays: { readonly p50: number; readonly p99: number; readonly max: number };
  /** The gateway's heap without garbage: MB. */
  readonly heap: { readonly before: number; readonly after: number };
}

/** Lines of pino from this level on are faults of the gateway's own. */
const ERROR_LEVEL = 50;

/** Code that has been compiled, caches that are full, and metrics of what has happened, stay: MB. */
const KEPT_MB = 30;

/** The bus keeps the channels that clients have asked for as long as the bundled graph says, and some time for its timers. */
const HISTORY_MS = 150_000;

const HOSTILE = path.join(import.meta.dirname, 'hostile-process.js');

/** Lets hostile clients at a gateway with the bundled graph, and an honest one that must not notice. */
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
  // On a busy machine there has not been a session of each kind by then.
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

/** Nothing that belonged to a client may stay. */
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
