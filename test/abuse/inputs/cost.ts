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
  /** Sources of the budget of which bytes were seen reserved. */
  readonly sources: ReadonlySet<string>;
}

/** Between two events for the honest subscriber, ms. */
const BEAT_MS = 50;

const RESERVED = /^sluice_reserved_bytes\{source="(\w+)"\} [^0]/gm;
const LOOP = /^nodejs_eventloop_lag_max_seconds (.+)$/m;

/** What scrapes of metrics tell. Each begins a new measure of the event loop, so that nobody else may scrape meanwhile. */
class Scrapes {
  readonly sources = new Set<string>();
  longestTurnMs = 0;
  readonly #url: string;

  constructor({ gateway }: Pod) {
    this.#url = `${gateway.adminUrl}/metrics`;
  }

  async add(): Promise<void> {
    const metrics = await (await fetch(this.#url)).text();
    for (const [, source = ''] of metrics.matchAll(RESERVED)) this.sources.add(source);
    this.longestTurnMs = Math.max(this.longestTurnMs, 1_000 * Number(LOOP.exec(metrics)?.[1]));
  }
}

/** MB that a process takes at most since Linux was told to forget what it took before. */
export async function peakMb({ gateway }: Pod): Promise<number> {
  const status = await readFile(`/proc/${gateway.child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
}

/** Runs an attack beside the honest subscriber. */
export async function costOf(pod: Pod, attack: () => Promise<void>): Promise<Cost> {
  const { gateway, beat } = pod;
  await beat();
  // Linux forgets the peak before where 5 is written here.
  await writeFile(`/proc/${gateway.child.pid}/clear_refs`, '5');
  await new Scrapes(pod).add();

  const delays: number[] = [];
  const scrapes = new Scrapes(pod);
  const over = attack().then(() => true);
  do {
    delays.push(await beat());
    await scrapes.add();
  } while (!(await Promise.race([over, delay(BEAT_MS, false)])));
  delays.push(await beat());
  await scrapes.add();

  const mb = await peakMb(pod);
  await eventually(async () => {
    assert.equal(await gateway.metric('sluice_reserved_bytes'), 0, 'bytes are reserved');
    assert.equal(await gateway.metric('sluice_reservations_waiting'), 0, 'reservations wait');
  });
  const { longestTurnMs, sources } = scrapes;
  return { peakMb: mb, longestTurnMs, slowestEventMs: Math.max(...delays), sources };
}
