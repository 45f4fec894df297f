import type { Run, Sample } from './report.ts';

/** A number that is computed from one run. */
export interface Figure {
  readonly name: string;
  readonly unit: Unit;
  /** Whether a larger value is better or worse. */
  readonly more: 'better' | 'worse';
  /** One sentence for readers who see the figure for the first time. */
  readonly meaning: string;
  /** null: not measured. */
  of(run: Run): number | null;
}

export type Unit = 'B' | 'KB' | 'MB' | 'µs' | 'ms' | '/s' | '';

/** Decimal units, as disks have: the stricter reading of a budget. */
const KB = 1_000;
export const MB = 1_000_000;
export const GB = 1_000_000_000;

/** Figures by their names in code, in the order of display. */
export const FIGURES = {
  heapPerSocket: {
    name: 'heap per idle socket',
    unit: 'KB',
    more: 'worse',
    meaning:
      'JavaScript heap after a collection of garbage, all clients subscribed less no client, per socket.',
    of: ({ idle, nothing }) => per((idle.heapBytes - nothing.heapBytes) / KB, idle.sockets - nothing.sockets),
  },
  residentPerSocket: {
    name: 'resident memory per idle socket',
    unit: 'KB',
    more: 'worse',
    meaning: 'The same of what the operating system counts as resident: heap, buffers, native objects.',
    of: ({ idle, nothing }) =>
      per((idle.residentBytes - nothing.residentBytes) / KB, idle.sockets - nothing.sockets),
  },
  cpuPerDeliverySingle: {
    name: 'CPU per delivery, one event at a time',
    unit: 'µs',
    more: 'worse',
    meaning: 'User and system time of the server for one event to reach one socket, nothing else under way.',
    of: ({ single }) => per(single.cpuSeconds * 1e6, single.deliveries),
  },
  cpuPerDeliveryFlood: {
    name: 'CPU per delivery, flood',
    unit: 'µs',
    more: 'worse',
    meaning: 'The same while many events are under way.',
    of: ({ flood }) => per(flood.cpuSeconds * 1e6, flood.deliveries),
  },
  cpuPerEventFlood: {
    name: 'CPU per event, flood',
    unit: 'µs',
    more: 'worse',
    meaning: 'From Kafka to the last socket that gets the event.',
    of: ({ flood }) => per(flood.cpuSeconds * 1e6, flood.events),
  },
  deliveriesPerSecond: {
    name: 'deliveries in the flood',
    unit: '/s',
    more: 'better',
    meaning: 'Results received by all clients together; clients and server share the machine.',
    of: ({ flood }) => per(flood.deliveries, flood.seconds),
  },
  bytesPerDelivery: {
    name: 'bytes per delivery',
    unit: 'B',
    more: 'worse',
    meaning: 'All bytes that clients read in the flood, with what the transport has around results.',
    of: ({ flood }) => per(flood.bytes, flood.deliveries),
  },
  promisesPerDelivery: {
    name: 'promises per delivery',
    unit: '',
    more: 'worse',
    meaning: 'All promises that an event makes, its own included, divided by its deliveries.',
    of: ({ promisesPerDelivery }) => finite(promisesPerDelivery),
  },
  executionsPerEvent: {
    name: 'executions per event',
    unit: '',
    more: 'worse',
    meaning: 'How often the GraphQL document was executed for one event, where the server counts that.',
    of: ({ executionsPerEvent }) => finite(executionsPerEvent),
  },
  growthInFlood: {
    name: 'growth of resident memory in the flood',
    unit: 'MB',
    more: 'worse',
    meaning: 'The most that was resident in the flood, less what was resident when all were idle.',
    of: (run) => finite((highestInFlood(run) - run.idle.residentBytes) / MB),
  },
  delaySingle: {
    name: 'delay p99, one event at a time',
    unit: 'ms',
    more: 'worse',
    meaning: 'Event written to Kafka to frame read by a client, which reads beside thousands of others.',
    of: ({ single: { delay } }) => (delay.count > 0 ? finite(delay.p99) : null),
  },
  delayFlood: {
    name: 'delay p99, flood',
    unit: 'ms',
    more: 'worse',
    meaning: 'The same in the flood, where events wait for those before them.',
    of: ({ flood: { delay } }) => (delay.count > 0 ? finite(delay.p99) : null),
  },
  handshake: {
    name: 'handshake p99 in the flood',
    unit: 'ms',
    more: 'worse',
    meaning: 'TCP connect to connection_ack of clients that connect in the middle of the flood.',
    of: ({ handshake }) => (handshake.count > 0 ? finite(handshake.p99) : null),
  },
} as const satisfies Record<string, Figure>;

/** First ÷ second; null if either was not measured, or the second is 0. */
export function ratio(figure: Figure, first: Run | undefined, second: Run | undefined): number | null {
  const dividend = first && figure.of(first);
  const divisor = second && figure.of(second);
  return dividend == null || divisor == null ? null : per(dividend, divisor);
}

function samplesIn(run: Run, phase: string): readonly Sample[] {
  const spans = run.phases.filter(({ name }) => name === phase);
  return run.samples.filter(({ at }) => spans.some(({ from, to }) => at >= from && at <= to));
}

function highestInFlood(run: Run): number {
  return Math.max(
    run.flood.residentBytes,
    ...samplesIn(run, 'flood').map(({ residentBytes }) => residentBytes),
  );
}

const finite = (value: number | null): number | null => (Number.isFinite(value) ? value : null);

const per = (amount: number, count: number): number | null => (count > 0 ? finite(amount / count) : null);
