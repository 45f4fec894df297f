import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIGURES, ratio } from '../../../loadtest/report/figures.ts';
import type { Run, Sample } from '../../../loadtest/report/report.ts';
import { loadReport } from '../../helpers/load-report.ts';

const delay = { count: 10, p50: 1, p90: 2, p99: 3, max: 4 };

/** Round numbers, so that readers can work out every figure in the head. */
const run: Run = {
  ...(loadReport().runs[0] as Run),
  nothing: { heapBytes: 10_000_000, residentBytes: 80_000_000, sockets: 0 },
  idle: { heapBytes: 15_000_000, residentBytes: 92_000_000, sockets: 1_000 },
  single: {
    events: 50,
    deliveries: 50_000,
    bytes: 12_000_000,
    seconds: 5,
    cpuSeconds: 0.4,
    residentBytes: 93_000_000,
    delay,
  },
  flood: {
    events: 2_000,
    deliveries: 2_000_000,
    bytes: 480_000_000,
    seconds: 4,
    cpuSeconds: 3,
    residentBytes: 110_000_000,
    delay: { ...delay, p99: 30 },
  },
  promisesPerDelivery: 0.01,
  executionsPerEvent: 1,
  handshake: { ...delay, p99: 17 },
  samples: [],
};

const sample = (at: number, residentBytes: number): Sample => ({
  at,
  residentBytes,
  heapBytes: 0,
  externalBytes: 0,
  cpuSeconds: 0,
  loopUtilisation: 0,
  loopDelayMs: 0,
  sockets: 0,
  eventsSent: 0,
  deliveries: 0,
});

test('Every figure equals the one worked out by hand', () => {
  const figures = Object.fromEntries(Object.entries(FIGURES).map(([name, figure]) => [name, figure.of(run)]));
  assert.deepEqual(figures, {
    heapPerSocket: 5, // 5 MB over 1,000 sockets
    residentPerSocket: 12, // 12 MB over 1,000 sockets
    cpuPerDeliverySingle: 8, // 0.4 s over 50,000
    cpuPerDeliveryFlood: 1.5, // 3 s over 2,000,000
    cpuPerEventFlood: 1_500, // 3 s over 2,000
    deliveriesPerSecond: 500_000, // 2,000,000 in 4 s
    bytesPerDelivery: 240, // 480 MB over 2,000,000
    promisesPerDelivery: 0.01,
    executionsPerEvent: 1,
    growthInFlood: 18, // 110 MB − 92 MB
    delaySingle: 3,
    delayFlood: 30,
    handshake: 17,
  });
});

test('Memory in the flood is the maximum over its samples, without those of other phases', () => {
  const phases = [
    { name: 'idle', from: 0, to: 1_000 },
    { name: 'flood', from: 1_001, to: 2_000 },
  ] as const;
  const samples = [sample(900, 400_000_000), sample(1_500, 142_000_000)];
  assert.equal(FIGURES.growthInFlood.of({ ...run, phases, samples }), 50);
});

test('Memory of sockets that were open before the first measurement is not divided among the others', () => {
  const nothing = { ...run.nothing, sockets: 500 };
  assert.equal(FIGURES.heapPerSocket.of({ ...run, nothing }), 10);
});

test('A figure without measurements is null', () => {
  const none = { ...run.flood, events: 0, deliveries: 0, seconds: 0, delay: { ...delay, count: 0 } };
  const empty: Run = { ...run, flood: none, executionsPerEvent: null, promisesPerDelivery: Number.NaN };
  for (const name of [
    'bytesPerDelivery',
    'cpuPerDeliveryFlood',
    'cpuPerEventFlood',
    'deliveriesPerSecond',
    'delayFlood',
    'executionsPerEvent',
    'promisesPerDelivery',
  ] as const)
    assert.equal(FIGURES[name].of(empty), null, name);
});

test('A ratio is the first figure over the second, or null where the second is zero or missing', () => {
  const slow: Run = { ...run, single: { ...run.single, cpuSeconds: 3.6 } };
  assert.equal(ratio(FIGURES.cpuPerDeliverySingle, slow, run), 9);
  assert.equal(ratio(FIGURES.cpuPerDeliverySingle, undefined, run), null);
  assert.equal(ratio(FIGURES.promisesPerDelivery, run, { ...run, promisesPerDelivery: 0 }), null);
});
