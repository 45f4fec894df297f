import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../../loadtest/report/budgets.ts';
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

/** By name of the budget, the verdict, or why there is none. */
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
    assert.equal(verdicts(report)[name], 'met');
    const alone = { ...report, runs: [sluiceOf(report)] };
    assert.equal(verdicts(alone)[name], 'needs a run of stock in the same report');
  });
}

/** Stock takes 72 and 61 µs. */
function taking(singleMicros: number, floodMicros: number): Report {
  const report = loadReport();
  const { single, flood } = sluiceOf(report);
  return withSluice(report, {
    single: { ...single, cpuSeconds: (singleMicros * single.deliveries) / 1e6 },
    flood: { ...flood, cpuSeconds: (floodMicros * flood.deliveries) / 1e6 },
  });
}

const twice = (pods: number): Report => withSluice(loadReport({ pods }), { executionsPerEvent: 2 });

/** A fifth of 4,000 sockets with 100 KB each: 80 MB. */
const STALLING = loadReport({ stalled: 0.2, socketBufferBytes: 100_000 });

function growing(bytes: number): Report {
  const { idle, flood } = sluiceOf(STALLING);
  const residentBytes = idle.residentBytes + bytes;
  return withSluice(STALLING, { samples: [], flood: { ...flood, residentBytes } });
}

const ended = (endings: Record<string, number>): Report =>
  withSluice(STALLING, { stalled: { sockets: 800, endings } });

const UNBOUNDED: Report = {
  ...STALLING,
  load: { ...loadReport({ stalled: 0.2 }).load, socketBufferBytes: undefined } as unknown as Load,
};

for (const [what, name, report, verdict] of [
  ['just six times less than stock', SINGLE, taking(11.99, 2.03), 'met'],
  ['just thirty times less than stock', FLOOD, taking(11.99, 2.03), 'met'],
  ['not quite six times less', SINGLE, taking(12.01, 2.04), 'missed'],
  ['not quite thirty times less', FLOOD, taking(12.01, 2.04), 'missed'],
  ['few sockets', SINGLE, loadReport({ sockets: 500 }), 'needs 4,000 sockets or more'],
  ['some sockets that do not read', SINGLE, loadReport({ stalled: 0.2 }), 'needs sockets that all read'],
  ['a flood with a rate', FLOOD, loadReport({ rate: 10 }), 'needs a flood without a rate'],
  ['a flood with a rate', SINGLE, loadReport({ rate: 10 }), 'met'],
  ['5,500 bytes', HEAP, holding(5_500, 'same'), 'met'],
  ['5,501 bytes', HEAP, holding(5_501, 'same'), 'missed'],
  ['7,000 bytes, variables all different', HEAP_UNIQUE, holding(7_000, 'unique'), 'met'],
  ['7,001 bytes, variables all different', HEAP_UNIQUE, holding(7_001, 'unique'), 'missed'],
  ['variables all different', HEAP, holding(7_001, 'unique'), 'needs the same variables'],
  ['a promise for each delivery', PROMISES, withSluice(loadReport(), { promisesPerDelivery: 1 }), 'missed'],
  ['two executions in two pods', EXECUTIONS, twice(2), 'met'],
  ['two executions in one pod', EXECUTIONS, twice(1), 'missed'],
  [
    'executions that were not counted',
    EXECUTIONS,
    withSluice(loadReport(), { executionsPerEvent: null }),
    'the run has no such figure',
  ],
  ['growth by all buffers and 64 MB', STALLED_GROWTH, growing(144_000_000), 'met'],
  ['growth by a byte more', STALLED_GROWTH, growing(144_000_001), 'missed'],
  ['buffers without a bound', STALLED_GROWTH, UNBOUNDED, 'needs the bound of what waits for a socket'],
  ['stalled sockets that all ended', STALLED_ENDINGS, ended({ 1013: 500, terminated: 300 }), 'met'],
  ['a fault', FAULTS, withSluice(loadReport(), { faults: ['one too few'] }), 'missed'],
] as const) {
  test(`The verdict on ${what}: ${name}: ${verdict}`, () => {
    assert.equal(verdicts(report)[name], verdict);
  });
}

test('A stalled socket that stays open, or gets another close code, is counted', () => {
  const report = ended({ 1013: 500, terminated: 297, 1006: 1, open: 2 });
  const { verdict, value } = judge(report).find(({ budget }) => budget.name === STALLED_ENDINGS) ?? {};
  assert.deepEqual([verdict, value], ['missed', 3]);
});

test('A report without Sluice meets no budget', () => {
  const report = loadReport();
  const stock = { ...report, runs: report.runs.filter(({ target }) => target === 'stock') };
  assert.ok(judge(stock).every(({ verdict }) => verdict === 'not measured'));
});
