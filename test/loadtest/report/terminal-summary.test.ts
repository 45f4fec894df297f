import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progress, ProgressLine } from '../../../loadtest/report/progress-line.ts';
import type { Sample } from '../../../loadtest/report/report.ts';
import { summary } from '../../../loadtest/report/terminal-summary.ts';
import { loadReport } from '../../helpers/load-report.ts';

const ESCAPE = '\u001B';

const sampleAt = (at: number): Sample => ({
  at,
  residentBytes: 134_400_000,
  heapBytes: 40_000_000,
  externalBytes: 4_000_000,
  cpuSeconds: 3,
  loopUtilisation: 0.427,
  loopDelayMs: 11,
  sockets: 4_000,
  eventsSent: 1_200,
  deliveries: 4_800_000,
});

/** A terminal, or a log, that keeps what is written to it. */
function output(isTTY: boolean, columns = 80) {
  const all: string[] = [];
  return { isTTY, columns, all, write: (text: string) => all.push(text) > 0 };
}

test('The summary shows runs side by side, how they compare, and every budget with its verdict', () => {
  const lines = summary(loadReport(), false).split('\n');
  assert.equal(lines[0], '4,000 sockets, every event to all');
  for (const cells of [
    ['figure', 'sluice', 'stock', 'sluice beside stock'],
    ['CPU per delivery, flood, µs', '2', '61', '30.5× less'],
    ['deliveries in the flood, /s', '320,000', '18,000', '17.8× more'],
    ['executions per event', '1', '–', '–'],
    ['heap per idle socket, same variables', '≤ 5.5 KB', '5 KB', '✓ met'],
    [
      'heap per idle socket, variables all different',
      '≤ 7 KB',
      '–',
      '– not measured (needs variables all different)',
    ],
  ]) {
    const line = lines.find((one) => one.startsWith(`${cells[0]}  `));
    assert.deepEqual(line?.split(/ {2,}/), cells);
  }
});

test('Sluice is compared with stock in either order of the runs, and a single run with nothing', () => {
  const report = loadReport();
  assert.match(summary({ ...report, runs: report.runs.toReversed() }, false), /sluice beside stock/);
  const alone = summary({ ...report, runs: report.runs.slice(0, 1) }, false);
  assert.doesNotMatch(alone, /beside|less|more\b/);
});

test('The summary ends with the faults in what clients received', () => {
  const report = loadReport();
  const runs = report.runs.map((run) => ({ ...run, faults: ['expected 5 deliveries, got 4'] }));
  const lines = summary({ ...report, runs }, false).split('\n');
  assert.deepEqual(lines.slice(-2), [
    '✗ sluice: expected 5 deliveries, got 4',
    '✗ stock: expected 5 deliveries, got 4',
  ]);
});

test('Only terminals get colours', () => {
  assert.ok(!summary(loadReport(), false).includes(ESCAPE));
  assert.ok(summary(loadReport(), true).includes(`${ESCAPE}[32m`));
});

test('A line of progress names the server and the phase, how long it has run, and its figures', () => {
  assert.equal(
    progress('sluice', 'single', sampleAt(12_300)),
    'sluice · single events · 12 s · 4,000 sockets · 134 MB · loop 43 % · 1,200 events · 4,800,000 deliveries',
  );
});

test('On a terminal, each line of progress takes the place of the one before, and never wraps', () => {
  const out = output(true, 40);
  const line = new ProgressLine(out);
  line.show('sluice', 'flood', sampleAt(1_000));
  line.show('sluice', 'flood', sampleAt(1_100));
  line.clear();
  assert.equal(out.all.length, 3);
  for (const text of out.all) {
    assert.ok(text.startsWith(`\r${ESCAPE}[K`));
    assert.ok(!text.includes('\n'));
    // eslint-disable-next-line no-control-regex
    assert.ok(text.replaceAll(/\u001B\[\d*[mK]|\r/g, '').length < 40);
  }
});

test('In a log, a line of progress comes every five seconds, and at once for another phase or target', () => {
  const out = output(false);
  const line = new ProgressLine(out);
  for (const at of [0, 1_000, 4_999, 5_000, 6_000]) line.show('sluice', 'idle', sampleAt(at));
  line.show('sluice', 'flood', sampleAt(6_500));
  line.show('stock', 'flood', sampleAt(100));
  line.clear();
  assert.deepEqual(
    out.all.map((text) => text.split(' · ').slice(0, 3).join(' ')),
    ['sluice idle 0 s', 'sluice idle 5 s', 'sluice flood 7 s', 'stock flood 0 s'],
  );
  assert.ok(out.all.every((text) => text.endsWith('\n') && !text.includes(ESCAPE)));
});
