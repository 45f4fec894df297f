import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { PATIENCE_MS } from '../helpers/eventually.ts';
import { upTo } from '../helpers/numbers.ts';
import { planOf } from './faults/plan.ts';
import { run } from './run.ts';
import { loadSimulatedGraph } from './world/graph.ts';

/** As many as two processors run in a minute or two. `yarn simulate` runs more. */
const SEEDS = 3_000;

const CLI = path.join(import.meta.dirname, 'cli.js');

/** @returns what the command has printed, and its exit code */
async function simulate(...args: readonly string[]): Promise<{ output: string; code: number | null }> {
  const child = fork(CLI, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const { stdout } = child;
  assert.ok(stdout);
  const [output, [code]] = await Promise.all([text(stdout), once(child, 'exit') as Promise<[number | null]>]);
  return { output, code };
}

test(
  'under faults of every kind no event is lost untold, doubled or out of order',
  { timeout: 900_000 },
  async () => {
    const workers = String(Math.min(availableParallelism(), 8));
    const { output, code } = await simulate('--seeds', String(SEEDS), '--workers', workers);
    assert.equal(code, 0, output);
    assert.match(output, /0 with violations, [1-9]/);
  },
);

test('a seed gives the same run each time', { timeout: PATIENCE_MS }, async () => {
  const shared = await loadSimulatedGraph();
  const clustered = upTo(50).filter((seed) => planOf(seed).topology === 'cluster');
  assert.ok(clustered.length > 5);
  for (const seed of [1, 2, 3, 4, 5, ...clustered.slice(0, 5)]) {
    const hashes = new Set<string>();
    for (let times = 0; times < 2; times += 1) {
      const { hash, trace } = await run({ plan: planOf(seed), shared, isTraced: true });
      assert.ok(trace.length > 50, `expected a trace, got ${trace.length} lines`);
      hashes.add(hash);
    }
    assert.equal(hashes.size, 1, `yarn simulate --seed ${seed}`);
  }
});

test('a part of a seed can be run alone, and prints all that happens', { timeout: PATIENCE_MS }, async () => {
  const { output, code } = await simulate('--seed', '1', '--faults', '0', '--events', '0-2,4');
  assert.equal(code, 0, output);
  assert.equal(output.match(/ fault: /g)?.length, 1, output);
  assert.match(output, / kafka: 4 is produced: .*\n[^]*No violation\.\n$/);
});
