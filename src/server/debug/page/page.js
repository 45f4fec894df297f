/* Runs in the browser: fetches the metrics every two seconds and draws them. */
import { Chart } from './chart.js';
import { quantile, rate, Reading } from './metrics.js';

const EVERY_MS = 2_000;
const SPAN_MS = 5 * 60_000;

/** Delays are computed over so many readings, since there may be too few events between two. */
const DELAY_READINGS = 5;

const count = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, notation: 'compact' }).format;
const whole = new Intl.NumberFormat('en').format;
const percent = (value) => `${Math.round(value * 100)} %`;
const seconds = (value) => (value < 1 ? `${count(value * 1000)} ms` : `${count(value)} s`);
const bytes = (value) => (value < 1e9 ? `${Math.round(value / 1e6)} MB` : `${(value / 1e9).toFixed(2)} GB`);
const perSecond = (value) => `${count(value)}/s`;

const DELAY = 'sluice_event_delay_seconds';

/** `values` gets the present reading, the previous one, and the one DELAY_READINGS before. */
const PANELS = [
  {
    title: 'Connections',
    series: ['connections', 'subscribers'],
    format: (value) => (value < 100_000 ? whole(value) : count(value)),
    unit: 2,
    values: (now) => [now.sum('sluice_connections'), now.sum('sluice_subscribers')],
  },
  {
    title: 'Events',
    series: ['consumed', 'executions'],
    format: perSecond,
    values: (now, before) => [
      rate(before, now, 'sluice_events_total'),
      rate(before, now, 'sluice_executions_total'),
    ],
  },
  {
    title: 'Deliveries',
    series: ['deliveries'],
    format: perSecond,
    values: (now, before) => [rate(before, now, 'sluice_deliveries_total')],
  },
  {
    title: 'Delay, consumed to flushed',
    series: ['99th percentile', 'median'],
    format: seconds,
    unit: 0.001,
    values: (now, _before, earlier) => [0.99, 0.5].map((share) => quantile(earlier, now, DELAY, share)),
  },
  {
    title: 'Event loop, busy',
    series: ['utilisation'],
    format: percent,
    max: 1,
    values: (now) => [now.max('sluice_event_loop_utilization')],
  },
  {
    title: 'Memory',
    series: ['resident', 'heap used'],
    format: bytes,
    unit: 1e6,
    values: (now) => [now.sum('process_resident_memory_bytes'), now.sum('nodejs_heap_size_used_bytes')],
  },
  {
    title: 'Pressure, share of the fullest limit',
    series: ['in use'],
    format: percent,
    max: 1,
    values: (now) => [now.max('sluice_pressure')],
  },
].map((panel) => ({ ...panel, chart: new Chart(panel, SPAN_MS), points: [] }));

const status = document.querySelector('#status');
const readings = [];

document.querySelector('#panels').append(...PANELS.map(({ chart }) => chart.element));

/** Adds a reading to the charts. The first one is compared with itself. */
function take(now) {
  const [earlier, before] = [readings[0] ?? now, readings.at(-1) ?? now];
  readings.push(now);
  if (readings.length > DELAY_READINGS) readings.shift();
  for (const { values, points, chart } of PANELS) {
    points.push({ time: now.time, values: values(now, before, earlier) });
    while (now.time - points[0].time > SPAN_MS) points.shift();
    chart.show(points);
  }
}

/** Adds a gap to the lines, after a request that failed. */
function miss(time) {
  for (const { points, series } of PANELS) points.push({ time, values: series.map(() => undefined) });
  readings.length = 0;
}

async function read() {
  try {
    const response = await fetch('../metrics', { cache: 'no-store' });
    if (!response.ok) throw new Error(`status ${response.status}`);
    take(new Reading(await response.text(), performance.timeOrigin + performance.now()));
    status.textContent = `Live, every ${EVERY_MS / 1000} seconds.`;
    status.className = '';
  } catch (error) {
    miss(performance.timeOrigin + performance.now());
    status.textContent = `No metrics since ${new Date().toLocaleTimeString()}: ${error.message}. Trying again.`;
    status.className = 'fault';
  }
  setTimeout(read, EVERY_MS);
}

await read();
