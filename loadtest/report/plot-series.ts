import { MB } from './figures.ts';
import type { Run, Sample } from './report.ts';

/** One line of a plot. */
export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
}

export interface Point {
  /** seconds since the run began */
  readonly at: number;
  /** The start of the time over which the value is a mean; absent: it is no mean. */
  readonly since?: number;
  readonly value: number;
}

/** A plot of values over time, drawn for each run. */
export interface Plot {
  /** A name for code and files. */
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  of(run: Run): readonly Series[];
}

export const PLOTS: readonly Plot[] = [
  {
    id: 'memory',
    title: 'Memory',
    unit: 'MB',
    of: ({ samples }) => [
      { name: 'resident', points: levels(samples, ({ residentBytes }) => residentBytes / MB) },
      { name: 'heap', points: levels(samples, ({ heapBytes }) => heapBytes / MB) },
      { name: 'external', points: levels(samples, ({ externalBytes }) => externalBytes / MB) },
    ],
  },
  {
    id: 'throughput',
    title: 'Throughput',
    unit: 'deliveries/s',
    of: ({ samples }) => [{ name: 'deliveries', points: rates(samples, ({ deliveries }) => deliveries) }],
  },
  {
    id: 'cpu',
    title: 'CPU',
    unit: '% of one core',
    of: ({ samples }) => [{ name: 'CPU', points: rates(samples, ({ cpuSeconds }) => cpuSeconds * 100) }],
  },
  {
    id: 'loop-delay',
    title: 'Delay of the event loop, p99',
    unit: 'ms',
    of: ({ samples }) => [{ name: 'delay', points: levels(samples, ({ loopDelayMs }) => loopDelayMs) }],
  },
  {
    id: 'sockets',
    title: 'Sockets',
    unit: 'connected',
    of: ({ samples }) => [{ name: 'sockets', points: levels(samples, ({ sockets }) => sockets) }],
  },
];

function levels(samples: readonly Sample[], value: (sample: Sample) => number): readonly Point[] {
  return samples
    .map((sample) => ({ at: sample.at / 1_000, value: value(sample) }))
    .filter(({ value: one }) => Number.isFinite(one));
}

/** Returns the rates per second of a count that begins with the run. */
function rates(samples: readonly Sample[], total: (sample: Sample) => number): readonly Point[] {
  return samples.slice(1).flatMap((sample, index) => {
    const before = samples[index];
    if (before === undefined || sample.at <= before.at) return [];
    const value = ((total(sample) - total(before)) / (sample.at - before.at)) * 1_000;
    return Number.isFinite(value) ? [{ at: sample.at / 1_000, since: before.at / 1_000, value }] : [];
  });
}
