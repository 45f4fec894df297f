import assert from 'node:assert/strict';
import test from 'node:test';
import { PATIENCE_MS } from '../helpers/eventually.ts';
import { upTo } from '../helpers/numbers.ts';
import { planOf } from './faults/draw-plan.ts';
import { run } from './run.ts';
import { simulate, testSeeds } from './seeds.ts';
import { loadSimulatedGraph } from './world/graph.ts';

/** The number of seeds that two processors run in some seconds. The slow tests and `yarn simulate` run more. */
testSeeds(1, 600);

test('a seed gives the same run each time', { timeout: PATIENCE_MS }, async () => {
  const shared = await loadSimulatedGraph();
  const clustered = upTo(50).filter((seed) => planOf(seed).topology === 'cluster');
  assert.ok(clustered.length > 5);
  for (const seed of [1, 2, 3, 4, 5, ...clustered.slice(0, 5)]) {
    const once = await run({ plan: planOf(seed), shared, isTraced: true });
    const again = await run({ plan: planOf(seed), shared, isTraced: true });
    assert.ok(once.trace.length > 50, `expected a trace, got ${once.trace.length} lines`);
    assert.deepEqual(once.trace, again.trace, `yarn simulate --seed ${seed}`);
  }
});

for (const topology of ['single', 'cluster'] as const) {
  test(`a pod whose listening connections carry nothing is deaf, and no other, and hears again: ${topology}`, async () => {
    const shared = await loadSimulatedGraph();
    const fault = { kind: 'deaf-pod', atMs: 0, forMs: 14_000, pod: 0 } as const;
    const plan = { ...planOf(1), topology, faults: [fault] };
    const { violations, trace } = await run({ plan, shared, isTraced: true });
    assert.deepEqual(violations, []);
    const told = trace.flatMap((line) => /\w+: (?:is deaf|hears again)$/.exec(line)?.[0] ?? []);
    const [first = '', ...others] = [...new Set(told)];
    assert.match(first, /^pod1: is deaf$/);
    assert.deepEqual(others, ['pod1: hears again']);
  });
}

test('a part of a seed can be run alone, and prints all that happens', { timeout: PATIENCE_MS }, async () => {
  const { output, code } = await simulate('--seed', '1', '--keep', '{"faults":[0],"events":[0,1,2,4]}');
  assert.equal(code, 0, output);
  assert.equal(output.match(/ fault: /g)?.length, 1, output);
  assert.match(output, / kafka: 4 is produced: .*\n[^]*No violation\.\n$/);
});
