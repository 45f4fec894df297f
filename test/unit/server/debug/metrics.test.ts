import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pageScript } from '../page-script.ts';

interface Reading {
  sum(name: string): number | undefined;
  max(name: string): number | undefined;
}

type OfTwo<Result> = (before: Reading, now: Reading, name: string, share?: number) => Result;

interface PageMetrics {
  readonly Reading: new (text: string, time: number) => Reading;
  readonly rate: OfTwo<number | undefined>;
  readonly quantile: OfTwo<number | undefined>;
}

const { Reading, rate, quantile } = await pageScript<PageMetrics>('debug/page/metrics.js');

function histogram(counts: Readonly<Record<string, number>>, labels = ''): string {
  return Object.entries(counts)
    .map(([bound, count]) => `delay_bucket{${labels}le="${bound}"} ${count}\n`)
    .join('');
}

describe('what the page at /debug/ makes of metrics', () => {
  it('adds a metric up over its labels, or takes the largest', () => {
    const reading = new Reading('# HELP a b\n# TYPE a gauge\na{t="x y"} 2\na{t="le"} 3.5\nab 9\n', 0);
    assert.equal(reading.sum('a'), 5.5);
    assert.equal(reading.max('a'), 3.5);
    assert.equal(reading.sum('b'), undefined);
  });

  it('shows a counter per second, and nothing when it was reset or is missing', () => {
    const [before, now] = [new Reading('n 10\n', 1_000), new Reading('n 40\n', 3_000)];
    assert.equal(rate(before, now, 'n'), 15);
    assert.equal(rate(now, new Reading('n 3\n', 5_000), 'n'), undefined);
    assert.equal(rate(before, now, 'other'), undefined);
  });

  it('estimates quantiles from the observations between two readings', () => {
    const before = new Reading(histogram({ 1: 50, 3: 50, '+Inf': 50 }), 0);
    const now = new Reading(histogram({ 1: 60, 3: 140, '+Inf': 150 }), 2_000);
    assert.equal(quantile(before, now, 'delay', 0.1), 1);
    assert.equal(quantile(before, now, 'delay', 0.5), 1 + (2 * 40) / 80);
    assert.equal(quantile(before, now, 'delay', 0.99), 3, 'the largest bound is all that is known');
    assert.equal(quantile(now, now, 'delay', 0.5), undefined, 'nothing has come');
  });

  it('sums the buckets of several processes', () => {
    const none = new Reading('', 0);
    const two = ['worker="1",', 'worker="2",']
      .map((labels) => histogram({ 1: 5, '+Inf': 5 }, labels))
      .join('');
    assert.equal(quantile(none, new Reading(two, 1), 'delay', 0.5), 0.5);
  });
});
