import assert from 'node:assert/strict';
import test from 'node:test';
import { Metrics } from '../../../src/metrics.ts';
import { AggregatedMetrics, snapshotOf } from '../../../src/workers/aggregated-metrics.ts';

/** The value of each line of the text, by name and labels. */
async function linesOf(aggregated: AggregatedMetrics): Promise<Record<string, number>> {
  const lines = (await aggregated.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

async function process(events: number, connections: number) {
  const metrics = new Metrics();
  metrics.collectProcess();
  metrics.events.inc({ topic: 'bids' }, events);
  metrics.connections.set(connections);
  metrics.eventDelay.observe(0.003);
  return snapshotOf(metrics.registry);
}

/** Sets up the metrics of two workers. */
async function two(): Promise<AggregatedMetrics> {
  const aggregated = new AggregatedMetrics();
  aggregated.update(1, '1', await process(5, 20));
  aggregated.update(2, '2', await process(7, 30));
  return aggregated;
}

test('counters, histograms and gauges of Sluice are added up', async () => {
  const lines = await linesOf(await two());
  assert.equal(lines['sluice_events_total{topic="bids"}'], 12);
  assert.equal(lines['sluice_connections'], 50);
  assert.equal(lines['sluice_event_delay_seconds_bucket{le="0.005"}'], 2);
  assert.equal(lines['sluice_event_delay_seconds_bucket{le="+Inf"}'], 2);
  assert.equal(lines['sluice_event_delay_seconds_count'], 2);
});

test('metrics of a process itself, and its heap limit, get a label for each: a sum would hide the one that is full', async () => {
  const aggregated = await two();
  aggregated.update(0, 'primary', await process(0, 0));
  const lines = await linesOf(aggregated);
  const names = [
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
    'sluice_heap_limit_bytes',
  ];
  for (const name of names) {
    for (const worker of ['primary', '1', '2']) {
      assert.ok(Number.isFinite(lines[`${name}{worker="${worker}"}`]), `${name} of ${worker}`);
    }
    assert.equal(lines[name], undefined);
  }
  assert.ok((lines['sluice_heap_limit_bytes{worker="1"}'] ?? 0) > 0);
});

test('no counter decreases when processes end, and their gauges are removed', async () => {
  const aggregated = await two();
  aggregated.end(1);
  assert.equal((await linesOf(aggregated))['sluice_events_total{topic="bids"}'], 12);
  assert.equal((await linesOf(aggregated))['sluice_connections'], 30);
  aggregated.update(3, '1', await process(1, 1));
  aggregated.end(2);
  aggregated.end(3);
  const lines = await linesOf(aggregated);
  assert.equal(lines['sluice_events_total{topic="bids"}'], 13);
  assert.equal(lines['sluice_event_delay_seconds_count'], 3);
  assert.equal(lines['sluice_connections'], undefined);
});

const single = (name: string, type: string) => (value: number) => {
  return { name, help: 'help', type, aggregator: 'sum', values: [{ value, labels: {} }] };
};
const seconds = single('process_cpu_seconds_total', 'counter');
const bytes = single('process_resident_memory_bytes', 'gauge');

test('a sum of fractions is the same in any order in which the processes end', async () => {
  for (const order of ['123', '231', '312', '321']) {
    const aggregated = new AggregatedMetrics();
    for (const id of [1, 2, 3]) aggregated.update(id, `${id}`, [seconds(id / 10)]);
    const before = (await linesOf(aggregated))['process_cpu_seconds_total'];
    for (const id of order) {
      aggregated.end(Number(id));
      assert.equal((await linesOf(aggregated))['process_cpu_seconds_total'], before);
    }
  }
});

test('while one process takes the place of another, the label names the new one', async () => {
  const aggregated = new AggregatedMetrics();
  aggregated.update(1, '1', [bytes(100)]);
  aggregated.update(2, '1', [bytes(40)]);
  aggregated.update(1, '1', [bytes(101)]);
  assert.deepEqual(await linesOf(aggregated), { 'process_resident_memory_bytes{worker="1"}': 40 });
  aggregated.end(2);
  assert.deepEqual(await linesOf(aggregated), { 'process_resident_memory_bytes{worker="1"}': 101 });
});

test('a process that ends before it has sent metrics leaves nothing behind', async () => {
  const aggregated = new AggregatedMetrics();
  aggregated.end(7);
  assert.equal((await aggregated.text()).trim(), '');
});
