import assert from 'node:assert/strict';
import { allocatedBy, collectYoung } from './allocation.ts';
import { median, quartileRange } from '../statistics.ts';

/** One of the ways that a case compares. */
export interface Variant {
  readonly name: string;
  /** Returns the full result of a small sample: the same for all variants of a case. */
  sample(): unknown;
  /**
   * Makes the input of this number of operations, while the clock stands still.
   *
   * @returns does the operations, and ends when none is under way any more. Its result is the amount of their output:
   *   the same for all variants, and n times as much for n operations
   */
  ready(operations: number): Work;
}

/** Does the operations that were made ready. */
export type Work = () => number | Promise<number>;

/** Variants to compare. The first is the ordinary way, the base of the comparison. */
export interface Case {
  readonly name: string;
  /** The thing that is counted, in the singular. */
  readonly unit: string;
  /** The number of units in one operation; 1 if left out. */
  readonly units?: number;
  open(): OpenCase | Promise<OpenCase>;
}

interface OpenCase {
  readonly variants: readonly Variant[];
  close?(): void | Promise<void>;
}

export interface Effort {
  /** In each round, all variants take turns. */
  readonly rounds: number;
  /** The time that one variant's turn should take; 0: the turn is one operation. */
  readonly turnMs: number;
}

/** The costs of one unit. */
export interface Measurement {
  readonly name: string;
  /** CPU time of this process, with garbage collection and compilation: the median of the rounds. */
  readonly cpuNs: number;
  /** The range between the quartiles, as a share of the median. */
  readonly cpuSpread: number;
  readonly wallNs: number;
  /** CPU time as a multiple of the first variant's: the median of the ratios in each round. */
  readonly ratio: number;
  /** Bytes allocated on the JavaScript heap. */
  readonly bytes: number;
}

interface Turn {
  readonly cpuNs: number;
  readonly wallNs: number;
}

/** A variant with its measurements. */
interface Contender {
  readonly variant: Variant;
  readonly operations: number;
  readonly turns: Turn[];
}

/** Cold turns say little: each variant runs this many before the first one counts. */
const WARM_UP_TURNS = 4;

/**
 * Checks that all variants of a case give the same result, and measures their costs.
 *
 * Neither mitata nor tinybench does this: both time one task to its end before the next one begins, so that other load
 * of the machine affects only one of them; and both read the clock, which says less than CPU time on a shared machine,
 * and for the kernel's work with sockets.
 *
 * @throws AssertionError if the variants give different results
 */
export async function measureCase(theCase: Case, effort: Effort): Promise<Measurement[]> {
  const { variants, close } = await theCase.open();
  try {
    const amount = await agreedAmount(theCase, variants);
    const contenders: Contender[] = [];
    for (const variant of variants) {
      const operations = await warmUp(variant, amount, effort.turnMs);
      contenders.push({ variant, operations, turns: [] });
    }
    for (let round = 0; round < effort.rounds; round += 1) {
      for (let place = 0; place < contenders.length; place += 1) {
        // Each variant goes first as often as the others.
        const { variant, operations, turns } = contenders[(round + place) % contenders.length] as Contender;
        turns.push(await turn(variant, operations, amount));
      }
    }
    const measurements: Measurement[] = [];
    for (const contender of contenders) {
      measurements.push(await summary(contender, contenders[0] ?? contender, theCase.units ?? 1));
    }
    return measurements;
  } finally {
    await close?.();
  }
}

/** @returns the amount of output of one operation */
async function agreedAmount({ name }: Case, variants: readonly Variant[]): Promise<number> {
  const [first, ...others] = variants;
  assert.ok(first, `Expected at least one variant of ${name}, got none.`);
  const sample = await first.sample();
  const amount = await first.ready(1)();
  assert.ok(amount > 0, `Nothing comes of ${first.name} in ${name}.`);
  for (const other of others) {
    const differ: string = `${first.name} and ${other.name} give different results in ${name}.`;
    assert.deepEqual(await other.sample(), sample, differ);
    assert.equal(await other.ready(1)(), amount, differ);
  }
  return amount;
}

/** @returns the number of operations that fill a turn */
async function warmUp(variant: Variant, amount: number, turnMs: number): Promise<number> {
  let operations = 1;
  if (turnMs === 0) return operations;
  for (let warm = 0; warm < WARM_UP_TURNS;) {
    const { wallNs } = await turn(variant, operations, amount);
    const fill = (turnMs * 1e6) / wallNs;
    // Grows at most tenfold at once: the first operations are slower than later ones.
    const next = Math.max(1, Math.min(Math.round(fill), operations * 10));
    if (next < operations * 2) warm += 1;
    operations = next;
  }
  return operations;
}

/** @returns the costs of one operation */
async function turn({ name, ready }: Variant, operations: number, amount: number): Promise<Turn> {
  const run = ready(operations);
  collectYoung();
  const cpu = process.cpuUsage();
  const wall = process.hrtime.bigint();
  const came = await run();
  const wallNs = Number(process.hrtime.bigint() - wall) / operations;
  const { user, system } = process.cpuUsage(cpu);
  assert.equal(came, operations * amount, `${name} does not do all of its ${operations} operations.`);
  return { cpuNs: ((user + system) * 1000) / operations, wallNs };
}

async function summary(contender: Contender, first: Contender, units: number): Promise<Measurement> {
  const { variant, operations, turns } = contender;
  const cpu = turns.map(({ cpuNs }) => cpuNs);
  const bytes = await allocatedBy(variant.ready(operations));
  return {
    name: variant.name,
    cpuNs: median(cpu) / units,
    cpuSpread: quartileRange(cpu) / median(cpu),
    wallNs: median(turns.map(({ wallNs }) => wallNs)) / units,
    ratio: median(cpu.map((cpuNs, round) => cpuNs / (first.turns[round]?.cpuNs ?? Number.NaN))),
    bytes: bytes / operations / units,
  };
}
