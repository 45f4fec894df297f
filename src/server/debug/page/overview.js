/* Runs in the browser: the metrics of the pod as charts. */
import { Chart } from './chart.js';
import { bytes, count, percent, perSecond, seconds, whole } from './format.js';
import { quantile, rate } from './metrics.js';

const SPAN_MS = 5 * 60_000;

/** Delays are computed over so many readings, since two readings may have too few events between them. */
const DELAY_READINGS = 5;

const DELAY = 'sluice_event_delay_seconds';

/** `isShown`: undefined if always shown. `values` gets this reading, the previous one, and the one DELAY_READINGS before. */
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
    title: 'Lag, messages yet to be consumed',
    isShown: (now) => now.sum('sluice_kafka_lag') !== undefined,
    series: ['lag'],
    format: count,
    unit: 2,
    values: (now) => [now.sum('sluice_kafka_lag')],
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
];

/** Takes readings even while the user looks at another view. */
export class Overview {
  #readings = [];
  #panels = PANELS.map((panel) => ({ ...panel, chart: new Chart(panel, SPAN_MS), points: [] }));

  get elements() {
    return this.#panels.map(({ chart }) => chart.element);
  }

  /** Adds a reading to the charts. The first one is compared with itself. */
  take(now) {
    const readings = this.#readings;
    const [earlier, before] = [readings[0] ?? now, readings.at(-1) ?? now];
    readings.push(now);
    if (readings.length > DELAY_READINGS) readings.shift();
    for (const { values, points, chart, isShown } of this.#panels) {
      chart.element.hidden = isShown?.(now) === false;
      points.push({ time: now.time, values: values(now, before, earlier) });
      while (now.time - points[0].time > SPAN_MS) points.shift();
      chart.show(points);
    }
  }

  /** Adds a gap to the lines, after a request that failed. */
  miss(time) {
    for (const { points, series } of this.#panels) points.push({ time, values: series.map(() => undefined) });
    this.#readings.length = 0;
  }
}
