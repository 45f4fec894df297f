import assert from 'node:assert/strict';
import { test } from 'node:test';
import { medians } from '../../../loadtest/run/medians.ts';
import { SMALL_BUDGETS } from '../../../loadtest/run/small-budgets.ts';
import { BUDGETS, NO_FAULTS } from '../../../loadtest/report/budgets.ts';
import type { Report, Run } from '../../../loadtest/report/report.ts';
import { loadReport } from '../../helpers/load-report.ts';

const PROMISES = 'promises per delivery';
const EXECUTIONS = 'executions per event';

/** A round with other figures for Sluice. */
function round(change: Partial<Run>, report = loadReport()): Report {
  const runs = report.runs.map((run) => (run.target === 'sluice' ? { ...run, ...change } : run));
  return { ...report, runs };
}

function of(reports: readonly Report[], name: string): readonly unknown[] {
  const found = medians(reports, SMALL_BUDGETS).filter(({ budget }) => budget.name === name);
  return found.map(({ value, verdict }) => [value, verdict]);
}

test('a budget is judged by the median of the rounds', () => {
  const rounds = [0.1, 5, 0.2].map((promisesPerDelivery) => round({ promisesPerDelivery }));
  assert.deepEqual(of(rounds, PROMISES), [[0.2, 'met']]);
  assert.deepEqual(of(rounds.slice(0, 2), PROMISES), [[2.55, 'missed']]);
});

test('a budget that no round could measure is shown as not measured, not left out', () => {
  const rounds = [1, 2, 3].map(() => round({ executionsPerEvent: null }));
  assert.deepEqual(of(rounds, EXECUTIONS), [[null, 'not measured']]);
  const told = medians(rounds, SMALL_BUDGETS).find(({ verdict }) => verdict !== 'met');
  assert.equal(told?.reason, 'the run has no such figure');
  const alone = rounds.map((report) => ({ ...report, runs: report.runs.slice(0, 1) }));
  assert.ok(medians(alone, SMALL_BUDGETS).some(({ reason }) => reason?.startsWith('needs a run of stock')));
});

test('a budget that one round could not measure is judged by the other rounds', () => {
  const rounds = [null, 1, 1].map((executionsPerEvent) => round({ executionsPerEvent }));
  assert.deepEqual(of(rounds, EXECUTIONS), [[1, 'met']]);
});

test('budgets that do not apply to the load are left out', () => {
  const names = medians([loadReport()], BUDGETS).map(({ budget }) => budget.name);
  assert.ok(names.includes('CPU per delivery, flood, stock ÷ sluice'));
  assert.ok(!names.some((name) => name.includes('CPU per event') || name.includes('stalled')));
});

test('faults of a single round miss the budget', () => {
  const rounds = [[], ['expected 3 deliveries in all, got 2'], []].map((faults) => round({ faults }));
  assert.deepEqual(of(rounds, NO_FAULTS.name), [[1, 'missed']]);
});
