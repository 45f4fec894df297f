import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge, type Judgement } from '../../../loadtest/report/budgets.ts';
import type { Load, Report, Run } from '../../../loadtest/report/report.ts';
import { loadReport } from '../../helpers/load-report.ts';

const SINGLE = 'CPU per delivery, one event at a time, stock ÷ sluice';
const FLOOD = 'CPU per delivery, flood, stock ÷ sluice';
const PER_EVENT = 'CPU per event, flood, stock ÷ sluice';
const HEAP = 'heap per idle socket, same variables';
const HEAP_UNIQUE = 'heap per idle socket, variables all different';
const RESIDENT = 'resident memory per idle socket';
const PROMISES = 'promises per delivery';
const EXECUTIONS = 'executions per event, identical subscribers';
const STALLED_GROWTH = 'growth of resident memory while some do not read';
const STALLED_ENDINGS = 'stalled sockets that were neither told 1013 nor terminated';
const FAULTS = 'faults in count, order and content of what arrived';

function judgement(report: Report, name: string): Judgement {
  const found = judge(report).find(({ budget }) => budget.name === name);
  assert.ok(found, `no budget is called ${name}`);
  return found;
}

function verdicts(report: Report): Record<string, string> {
  return Object.fromEntries(
    judge(report).map(({ budget, verdict, reason }) => [budget.name, reason ?? verdict]),
  );
}

/** The same report, with other figures for Sluice. */
function withSluice(report: Report, change: Partial<Run>): Report {
  return {
    ...report,
    runs: report.runs.map((run) => (run.target === 'sluice' ? { ...run, ...change } : run)),
  };
}

/** Bytes of heap a socket. */
function holding(bytes: number, variables: Load['variables']): Report {
  const report = loadReport({ variables });
  const { nothing, idle } = sluiceOf(report);
  return withSluice(report, { idle: { ...idle, heapBytes: nothing.heapBytes + bytes * idle.sockets } });
}

const sluiceOf = (report: Report): Run => report.runs.find(({ target }) => target === 'sluice') as Run;

test('A load is judged by the budgets that apply to it', () => {
  assert.deepEqual(verdicts(loadReport()), {
    [SINGLE]: 'met',
    [FLOOD]: 'met',
    [PER_EVENT]: 'needs a channel for each socket',
    [HEAP]: 'met',
    [HEAP_UNIQUE]: 'needs variables all different',
    [RESIDENT]: 'met',
    [PROMISES]: 'met',
    [EXECUTIONS]: 'met',
    [STALLED_GROWTH]: 'needs sockets that stop reading',
    [STALLED_ENDINGS]: 'needs sockets that stop reading',
    [FAULTS]: 'met',
  });
});

test('With a channel for each socket, only CPU per event and deliveries are judged', () => {
  const report = loadReport({ channels: 4_000 });
  const judged = judge(report).filter(({ verdict }) => verdict !== 'not measured');
  assert.deepEqual(
    judged.map(({ budget }) => budget.name),
    [PER_EVENT, FAULTS],
  );
});

for (const [name, load] of [
  [SINGLE, {}],
  [FLOOD, {}],
  [PER_EVENT, { channels: 4_000 }],
] as const) {
  test(`Without stock in the same report, this budget is not measured: ${name}`, () => {
    const report = loadReport(load);
    const alone = { ...report, runs: [sluiceOf(report)] };
    assert.equal(judgement(report, name).verdict, 'met');
    assert.equal(judgement(alone, name).verdict, 'not measured');
    assert.equal(judgement(alone, name).reason, 'needs a run of stock in the same report');
  });
}

test('The budgets of CPU per delivery are missed just below six and thirty times less than stock', () => {
  // Stock takes 72 and 61 µs.
  const report = loadReport();
  const { single, flood } = sluiceOf(report);
  const taking = (singleMicros: number, floodMicros: number): Report =>
    withSluice(report, {
      single: { ...single, cpuSeconds: (singleMicros * single.deliveries) / 1e6 },
      flood: { ...flood, cpuSeconds: (floodMicros * flood.deliveries) / 1e6 },
    });
  assert.equal(judgement(taking(11.99, 2.03), SINGLE).verdict, 'met');
  assert.equal(judgement(taking(11.99, 2.03), FLOOD).verdict, 'met');
  assert.equal(judgement(taking(12.01, 2.04), SINGLE).verdict, 'missed');
  assert.equal(judgement(taking(12.01, 2.04), FLOOD).verdict, 'missed');
});

test('CPU is not judged with few sockets, with some that do not read, or in a flood with a rate', () => {
  assert.equal(judgement(loadReport({ sockets: 500 }), SINGLE).reason, 'needs 4,000 sockets or more');
  assert.equal(judgement(loadReport({ stalled: 0.2 }), SINGLE).reason, 'needs sockets that all read');
  assert.equal(judgement(loadReport({ rate: 10 }), FLOOD).reason, 'needs a flood without a rate');
  assert.equal(judgement(loadReport({ rate: 10 }), SINGLE).verdict, 'met');
});

test('The heap has a budget of its own where all sockets have different variables', () => {
  assert.equal(judgement(holding(5_500, 'same'), HEAP).verdict, 'met');
  assert.equal(judgement(holding(5_501, 'same'), HEAP).verdict, 'missed');
  assert.equal(judgement(holding(7_000, 'unique'), HEAP_UNIQUE).verdict, 'met');
  assert.equal(judgement(holding(7_001, 'unique'), HEAP_UNIQUE).verdict, 'missed');
  assert.equal(judgement(holding(7_001, 'unique'), HEAP).verdict, 'not measured');
});

test('One promise for each delivery misses the budget', () => {
  assert.equal(judgement(withSluice(loadReport(), { promisesPerDelivery: 1 }), PROMISES).verdict, 'missed');
});

test('Each pod may execute an event once', () => {
  const twice = (pods: number): Report => withSluice(loadReport({ pods }), { executionsPerEvent: 2 });
  assert.equal(judgement(twice(2), EXECUTIONS).verdict, 'met');
  assert.equal(judgement(twice(1), EXECUTIONS).verdict, 'missed');
  const uncounted = withSluice(loadReport(), { executionsPerEvent: null });
  assert.equal(judgement(uncounted, EXECUTIONS).reason, 'the run has no such figure');
});

test('With sockets that stop reading, memory may grow by their buffers and 64 MB', () => {
  // A fifth of 4,000 sockets with 100 KB each.
  const report = loadReport({ stalled: 0.2, socketBufferBytes: 100_000 });
  const { idle, flood } = sluiceOf(report);
  const growing = (bytes: number): Report =>
    withSluice(report, {
      samples: [],
      flood: { ...flood, residentBytes: idle.residentBytes + bytes },
    });
  assert.equal(judgement(report, STALLED_GROWTH).limit, 144);
  assert.equal(judgement(growing(144_000_000), STALLED_GROWTH).verdict, 'met');
  assert.equal(judgement(growing(144_000_001), STALLED_GROWTH).verdict, 'missed');
  const { socketBufferBytes: _, ...unbounded } = report.load;
  assert.equal(
    judgement({ ...report, load: unbounded }, STALLED_GROWTH).reason,
    'needs the bound of what waits for a socket',
  );
});

test('A stalled socket that stays open, or gets another close code, is counted', () => {
  const report = loadReport({ stalled: 0.2 });
  const ended = (endings: Record<string, number>): Report =>
    withSluice(report, { stalled: { sockets: 800, endings } });
  assert.equal(judgement(ended({ 1013: 500, terminated: 300 }), STALLED_ENDINGS).verdict, 'met');
  const left = judgement(ended({ 1013: 500, terminated: 297, 1006: 1, open: 2 }), STALLED_ENDINGS);
  assert.equal(left.verdict, 'missed');
  assert.equal(left.value, 3);
});

test('A single fault misses its budget', () => {
  assert.equal(judgement(withSluice(loadReport(), { faults: ['one too few'] }), FAULTS).verdict, 'missed');
});

test('A report without Sluice meets no budget', () => {
  const report = loadReport();
  const stock = { ...report, runs: report.runs.filter(({ target }) => target === 'stock') };
  assert.ok(judge(stock).every(({ verdict }) => verdict === 'not measured'));
});
