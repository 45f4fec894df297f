import assert from 'node:assert/strict';
import { allocatedBy, collectYoung } from './allocation.ts';
import { median, quartileRange } from '../statistics.ts';

/** One way to do what a case is about. */
export interface Variant {
  readonly name: string;
  /** What comes of a small sample, in full: the same for all variants of a case. */
  sample(): unknown;
  /**
   * Makes what so many operations start from, while the clock stands still.
   *
   * @returns does them, and is done when nothing of them is under way any more. What it returns is how much came of
   *   them: the same for all variants, and n times as much for n operations
   */
  ready(operations: number): Work;
}

/** Does the operations that were made ready. */
export type Work = () => number | Promise<number>;

/** Ways beside each other. The first is the ordinary one, which the others are compared with. */
export interface Case {
  readonly name: string;
  /** What is counted, in the singular. */
  readonly unit: string;
  /** How many of these one operation is; 1 if left out. */
  readonly units?: number;
  open(): OpenCase | Promise<OpenCase>;
}

interface OpenCase {
  readonly variants: readonly Variant[];
  close?(): void | Promise<void>;
}

export interface Effort {
  /** All variants take turns in each. */
  readonly rounds: number;
  /** How long one variant's turn should take; 0: one operation. */
  readonly turnMs: number;
}

/** A measurement of one unit. */
export interface Measurement {
  readonly name: string;
  /** Median of the rounds; of this process, with garbage collection and compilation. */
  readonly cpuNs: number;
  /** Between the quartiles, as a share of the median. */
  readonly cpuSpread: number;
  readonly wallNs: number;
  /** CPU as a multiple of the first variant's: the median of what the rounds give. */
  readonly ratio: number;
  /** Allocated on the JavaScript heap. */
  readonly bytes: number;
}

interface Turn {
  readonly cpuNs: number;
  readonly wallNs: number;
}

/** A variant with what has been found out about it. */
interface Contender {
  readonly variant: Variant;
  readonly operations: number;
  readonly turns: Turn[];
}

/** A turn that begins cold says little: each variant runs this many before the first one counts. */
const WARM_UP_TURNS = 4;

/**
 * Checks that all variants of a case do the same, and measures what it costs them.
 *
 * Neither mitata nor tinybench does this: both time one task to its end before the next one begins, so that what
 * else the machine does in a minute meets one of them only; and both read the clock, which on a shared machine, and
 * for what the kernel does with sockets, says less than CPU time.
 *
 * @throws AssertionError if they do not do the same
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
        // Each goes first as often as the others.
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

/** @returns how much comes of one operation */
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

/** @returns how many operations fill a turn */
async function warmUp(variant: Variant, amount: number, turnMs: number): Promise<number> {
  let operations = 1;
  if (turnMs === 0) return operations;
  for (let warm = 0; warm < WARM_UP_TURNS;) {
    const { wallNs } = await turn(variant, operations, amount);
    const fill = (turnMs * 1e6) / wallNs;
    // By no more than ten times at once: the first operations are slower than those to come.
    const next = Math.max(1, Math.min(Math.round(fill), operations * 10));
    if (next < operations * 2) warm += 1;
    operations = next;
  }
  return operations;
}

/** @returns of one operation */
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
