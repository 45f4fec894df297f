import assert from 'node:assert/strict';
import test from 'node:test';
import { planOf } from '../faults/plan.ts';
import { run } from '../run.ts';
import { loadSimulatedGraph } from '../world/graph.ts';
import { DEFECTS, EVIDENT } from './defects.ts';

const shared = await loadSimulatedGraph();

/** The simulation has to find each of these within the first so many seeds. */
export function testFinding({ seeds, areEvident }: { seeds: number; areEvident: boolean }): void {
  for (const [name, defect] of Object.entries(DEFECTS)) {
    if (EVIDENT.includes(name) !== areEvident) continue;
    test(`the simulation finds that ${name}`, { timeout: 600_000 }, async (t) => {
      for (let seed = 1; seed <= seeds; seed += 1) {
        const { violations } = await run({ plan: planOf(seed), shared, defect });
        if (violations.length === 0) continue;
        t.diagnostic(`seed ${seed}: ${violations[0]}`);
        return;
      }
      assert.fail(`expected a violation within ${seeds} seeds, got none`);
    });
  }
}
