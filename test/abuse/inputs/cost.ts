import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../helpers/eventually.ts';
import type { Pod } from './pod.ts';

/** What an attack cost. */
export interface Cost {
  /** MB that the process took at its peak, what it had before included. */
  readonly peakMb: number;
  /** ms for which the event loop stood still. */
  readonly longestTurnMs: number;
  /** ms that the slowest event took to the honest subscriber while the attack lasted. */
  readonly slowestEventMs: number;
}

/** Between two events for the honest subscriber, ms. */
const BEAT_MS = 50;

const LOOP = 'nodejs_eventloop_lag_max_seconds';

/** MB that a process takes at most since Linux was told to forget what it took before. */
export async function peakMb({ gateway }: Pod): Promise<number> {
  const status = await readFile(`/proc/${gateway.child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
}

/** Runs an attack beside the honest subscriber. It must not scrape metrics: each scrape begins a new measure of the loop. */
export async function costOf(pod: Pod, attack: () => Promise<void>): Promise<Cost> {
  const { gateway, beat } = pod;
  await beat();
  // Linux forgets the peak before where 5 is written here.
  await writeFile(`/proc/${gateway.child.pid}/clear_refs`, '5');
  await gateway.metric(LOOP);

  const delays: number[] = [];
  const over = attack().then(() => true);
  do delays.push(await beat());
  while (!(await Promise.race([over, delay(BEAT_MS, false)])));
  delays.push(await beat());

  const longestTurnMs = 1_000 * (await gateway.metric(LOOP));
  const mb = await peakMb(pod);
  await eventually(async () => {
    assert.equal(await gateway.metric('sluice_reserved_bytes'), 0, 'bytes are reserved');
    assert.equal(await gateway.metric('sluice_reservations_waiting'), 0, 'reservations wait');
  });
  return { peakMb: mb, longestTurnMs, slowestEventMs: Math.max(...delays) };
}
