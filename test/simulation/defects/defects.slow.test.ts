import assert from 'node:assert/strict';
import test from 'node:test';
import { planOf } from '../faults/plan.ts';
import { run } from '../run.ts';
import { loadSimulatedGraph } from '../world/graph.ts';
import { DEFECTS } from './defects.ts';

const SEEDS = 2_000;

const shared = await loadSimulatedGraph();

for (const [name, defect] of Object.entries(DEFECTS)) {
  test(`the simulation finds that ${name}`, { timeout: 600_000 }, async (t) => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { violations } = await run({ plan: planOf(seed), shared, defect });
      if (violations.length === 0) continue;
      t.diagnostic(`seed ${seed}: ${violations[0]}`);
      return;
    }
    assert.fail(`expected a violation within ${SEEDS} seeds, got none`);
  });
}
