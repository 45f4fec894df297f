import assert from 'node:assert/strict';
import { test } from 'node:test';
import { svgs } from '../../../loadtest/report/plot-svg.ts';
import type { Phase, Run, Sample } from '../../../loadtest/report/report.ts';
import { PLOTS, type Plot } from '../../../loadtest/report/plot-series.ts';
import { loadReport } from '../../helpers/load-report.ts';

const [sluice, stock] = loadReport().runs as [Run, Run];
const [base] = sluice.samples as [Sample];

const plot = (id: string): Plot => PLOTS.find((one) => one.id === id) as Plot;

const ticksOf = (svg: string): string[] =>
  [...svg.matchAll(/<text class="tick"[^>]*>([^<]*)</g)].map(([, text]) => text ?? '');

const pointsOf = (svg: string): number[][] =>
  [...svg.matchAll(/<polyline[^>]* points="([^"]*)"/g)].map(([, points]) =>
    (points ?? '').split(/[ ,]/).map(Number),
  );

/** Returns the coordinates of the first line; they grow to the right, and downwards. */
const along = (svg: string, axis: 'x' | 'y'): number[] =>
  (pointsOf(svg)[0] ?? []).filter((_, index) => index % 2 === (axis === 'x' ? 0 : 1));

const top = (svg: string): number => Math.min(...along(svg, 'y'));

const draw = (id: string, run: Run): string => svgs(plot(id), [run])[0] ?? '';

/** A plot of as many sockets as are given for each second, and nothing else. */
function drawn(...sockets: number[]): string {
  const samples = sockets.map((count, second) => ({ ...base, at: second * 1_000, sockets: count }));
  return draw('sockets', { ...sluice, samples, phases: [] });
}

const secondsIn = (svg: string): string[] => ticksOf(svg).filter((text) => text.endsWith(' s'));
const valuesIn = (svg: string): string[] => ticksOf(svg).filter((text) => !text.endsWith(' s'));

test('The axis of values ends at a round number that no value exceeds', () => {
  assert.deepEqual(valuesIn(drawn(400)), ['0', '100', '200', '300', '400']);
  assert.deepEqual(valuesIn(drawn(401)), ['0', '100', '200', '300', '400', '500']);
  assert.equal(valuesIn(drawn(0.034)).at(-1), '0.035');
  // A quarter of the way from the bottom, at 214, to the top, at 46.
  assert.deepEqual(along(drawn(100, 400), 'y'), [172, 46]);
});

test('Values that are all zero can be drawn', () => {
  const svg = drawn(0, 0);
  assert.deepEqual([valuesIn(svg).at(0), valuesIn(svg).at(-1)], ['0', '1']);
  assert.deepEqual(pointsOf(svg), [[62, 214, 536, 214]]);
  assert.deepEqual(pointsOf(drawn(0)), [[62, 214]]);
});

test('Time ends where the last run does, with ticks at round numbers before', () => {
  const svg = drawn(...Array.from({ length: 64 }, () => 1));
  assert.deepEqual(secondsIn(svg), ['0 s', '10 s', '20 s', '30 s', '40 s', '50 s', '60 s']);
  assert.equal(pointsOf(svg)[0]?.at(-2), 536);
});

test('Runs are drawn on the same axes, and the lower one lower', () => {
  const [low, high] = svgs(plot('memory'), [sluice, stock]) as [string, string];
  assert.deepEqual(ticksOf(low), ticksOf(high));
  assert.ok(top(low) > top(high));
  assert.notDeepEqual(ticksOf(draw('memory', sluice)), ticksOf(high));
});

test('Throughput and CPU are the increase since the previous sample, per second', () => {
  const samples = [
    { ...base, at: 0, deliveries: 100, cpuSeconds: 1 },
    { ...base, at: 500, deliveries: 600, cpuSeconds: 1.25 },
    { ...base, at: 500, deliveries: 700, cpuSeconds: 1.3 }, // at the same moment: nothing to divide by
    { ...base, at: 2_500, deliveries: 700, cpuSeconds: 1.3 },
  ];
  const values = (id: string): number[] | undefined =>
    plot(id)
      .of({ ...sluice, samples })[0]
      ?.points.map(({ value }) => Math.round(value));
  assert.deepEqual(values('throughput'), [1_000, 0]);
  assert.deepEqual(values('cpu'), [50, 0]);
});

test('A mean is drawn level from the previous sample to its own', () => {
  const samples = [0, 1_000, 4_000].map((at, index) => ({ ...base, at, deliveries: index * 600 }));
  const svg = draw('throughput', { ...sluice, samples });
  const [x, y] = [along(svg, 'x'), along(svg, 'y')];
  assert.equal(y.length, 4);
  assert.deepEqual([y[0], x[1], y[2]], [y[1], x[2], y[3]]);
  assert.ok((y[0] ?? 0) < (y[2] ?? 0), '600 a second is drawn above 200 a second');
});

test('Every phase is marked, with labels that do not overlap', () => {
  const svg = draw('cpu', sluice);
  assert.equal([...svg.matchAll(/<rect class="band/g)].length, 4);
  const labels = [...svg.matchAll(/<text class="phase" x="([\d.]+)" y="(\d+)">([^<]+)</g)];
  assert.deepEqual(
    labels.map(([, , , name]) => name),
    ['nothing', 'idle', 'single events', 'flood'],
  );
  for (const y of new Set(labels.map((label) => label[2]))) {
    const line = labels.filter((label) => label[2] === y);
    for (const [index, [, x, , name]] of line.entries()) {
      const end = Number(x) + (name ?? '').length * 7;
      assert.ok(end < Number(line[index + 1]?.[1] ?? Infinity), `${name} runs into the next`);
    }
  }
});

test('A run without samples, and one that ended at once, are drawn empty', () => {
  const phases: Phase[] = [{ name: 'nothing', from: 0, to: 0 }];
  for (const { id } of PLOTS) {
    assert.doesNotMatch(draw(id, { ...sluice, samples: [], phases }), /NaN|Infinity|undefined/);
  }
});

test('A run that took hours is drawn', () => {
  const samples = Array.from({ length: 130_000 }, (_, index) => ({ ...base, at: index * 250 }));
  assert.equal(along(draw('sockets', { ...sluice, samples }), 'x').length, 130_000);
});

test('Names from a report are escaped in a plot', () => {
  assert.doesNotMatch(draw('memory', { ...sluice, target: '"><script>' }), /<script>/);
});
