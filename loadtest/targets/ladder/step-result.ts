import type { Run } from '../../report/report.ts';

/** What a step of the ladder came to. */
export interface Climbed {
  readonly name: string;
  readonly changes: string;
  /** That have reached everybody in the time of the flood. Not whole: the first steps handle few. */
  readonly events: number;
  /** In the time of the flood. */
  readonly deliveries: number;
  readonly idleResidentBytes: number;
  readonly idleHeapBytes: number;
  readonly busyResidentBytes: number;
  readonly cpuMicrosPerDelivery: number;
  /** Of the events, to those of the first step. */
  readonly ratio: number;
}

const MB = 1e6;

/**
 * The flood ends when everything under way has arrived, some time after `seconds`: so what is told is the pace.
 *
 * @param first the first step; undefined if this is it
 */
export function climbed(
  name: string,
  changes: string,
  { idle, flood }: Pick<Run, 'idle' | 'flood'>,
  seconds: number,
  first: Climbed | undefined,
): Climbed {
  const deliveries = Math.round((flood.deliveries / flood.seconds) * seconds);
  return {
    name,
    changes,
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

const COLUMNS: readonly (readonly [string, (step: Climbed) => string])[] = [
  ['step', ({ name }) => name],
  ['events', ({ events }) => events.toFixed(1)],
  ['× first', ({ ratio }) => ratio.toFixed(1)],
  ['µs/delivery', ({ cpuMicrosPerDelivery }) => cpuMicrosPerDelivery.toFixed(1)],
  ['idle MB', ({ idleResidentBytes }) => (idleResidentBytes / MB).toFixed(0)],
  ['idle heap MB', ({ idleHeapBytes }) => (idleHeapBytes / MB).toFixed(0)],
  ['busy MB', ({ busyResidentBytes }) => (busyResidentBytes / MB).toFixed(0)],
];

/** For a terminal. */
export function ladderTable(steps: readonly Climbed[]): string {
  const rows = [
    COLUMNS.map(([title]) => title),
    ...steps.map((step) => COLUMNS.map(([, cell]) => cell(step))),
  ];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .join('\n');
}
