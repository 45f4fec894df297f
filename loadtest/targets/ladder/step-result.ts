import type { Table } from '../../report/comparison-tables.ts';
import { MB } from '../../report/figures.ts';
import type { Run } from '../../report/report.ts';
import type { LadderStep } from '../../report/sections/ladder-section.ts';

/**
 * The flood ends when all events under way have arrived, some time after `seconds`. So events and deliveries are the
 * rate of the flood times `seconds`.
 *
 * @param first the first step; undefined if this is the first one
 */
export function resultOfStep(
  name: string,
  changes: string,
  { idle, flood }: Pick<Run, 'idle' | 'flood'>,
  seconds: number,
  first: LadderStep | undefined,
): LadderStep {
  const deliveries = Math.round((flood.deliveries / flood.seconds) * seconds);
  return {
    name,
    changes,
    // Not rounded to an integer: the first steps handle few events.
    events: rounded(deliveries / idle.sockets),
    deliveries,
    idleResidentBytes: idle.residentBytes,
    idleHeapBytes: idle.heapBytes,
    busyResidentBytes: flood.residentBytes,
    cpuMicrosPerDelivery: rounded((flood.cpuSeconds * 1e6) / flood.deliveries),
    ratio: first === undefined ? 1 : rounded(deliveries / first.deliveries),
  };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

const COLUMNS: readonly (readonly [string, (step: LadderStep) => string])[] = [
  ['step', ({ name }) => name],
  ['events', ({ events }) => events.toFixed(1)],
  ['× first', ({ ratio }) => ratio?.toFixed(1) ?? '–'],
  ['µs/delivery', ({ cpuMicrosPerDelivery }) => cpuMicrosPerDelivery?.toFixed(1) ?? '–'],
  ['idle MB', ({ idleResidentBytes }) => (idleResidentBytes / MB).toFixed(0)],
  ['idle heap MB', ({ idleHeapBytes }) => (idleHeapBytes / MB).toFixed(0)],
  ['busy MB', ({ busyResidentBytes }) => (busyResidentBytes / MB).toFixed(0)],
];

/** Returns the table for a terminal. */
export function stepTable(steps: readonly LadderStep[]): Table {
  return {
    columns: COLUMNS.map(([title]) => title),
    rows: steps.map((step) => COLUMNS.map(([, cell]) => cell(step))),
  };
}
