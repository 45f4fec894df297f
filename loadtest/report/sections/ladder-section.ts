import { MB } from '../figures.ts';
import { markdown } from '../escape.ts';
import { count } from '../description.ts';
import { markdownTable, originOf } from '../markdown.ts';
import type { Origin } from '../origin.ts';
import { amount } from '../units.ts';

/** The steps of a well-known tuning story, measured one after the other. */
export interface Ladder extends Origin {
  readonly kind: 'ladder';
  readonly sockets: number;
  readonly secondsPerStep: number;
  readonly steps: readonly LadderStep[];
}

export interface LadderStep {
  readonly name: string;
  /** The difference from the step before. */
  readonly changes: string;
  readonly events: number;
  readonly deliveries: number;
  readonly idleResidentBytes: number;
  readonly idleHeapBytes: number;
  readonly busyResidentBytes: number;
  readonly cpuMicrosPerDelivery: number | null;
  /** Events handled in the same time, as a multiple of the first step's; null if the first step handled none. */
  readonly ratio: number | null;
}

/** The steps that the team of a real-estate auction company's GraphQL service described in a talk in 2024. */
const STORY = [
  ['at first: 160 back-end wrappers in every context, lodash', '16 events in four minutes, idle 600 MB'],
  ['snake_case without lodash', '+20 %'],
  ['snake_case memoized', '+331 %'],
  ['compiled for the server alone', '3.6×'],
  ['arrays in place', '6.3×'],
  ['at the end: no locations, lazy contexts and loaders, query cache and JIT', 'idle 300 MB'],
] as const;

export function ladderSection(ladder: Ladder): string {
  const { sockets, secondsPerStep, steps } = ladder;
  return [
    `### ${count(sockets)} sockets, ${amount(secondsPerStep)} seconds a step`,
    'Each step differs from the one before in one thing. Memory is that of the whole process.',
    markdownTable(
      {
        columns: [
          'step',
          'what changes',
          'events',
          'deliveries',
          'times the first',
          'CPU per delivery, µs',
          'idle, MB',
          'idle heap, MB',
          'busy, MB',
        ],
        rows: steps.map((step) => [
          step.name,
          step.changes,
          count(step.events),
          count(step.deliveries),
          step.ratio === null ? '–' : `${amount(step.ratio)}×`,
          amount(step.cpuMicrosPerDelivery),
          amount(step.idleResidentBytes / MB),
          amount(step.idleHeapBytes / MB),
          amount(step.busyResidentBytes / MB),
        ]),
      },
      ['left', 'left'],
    ),
    `The story that these steps follow (a real-estate auction company's GraphQL service, told in 2024; ${markdown(
      '4,000 local sockets flooded by kcat, another machine and another schema',
    )}):`,
    markdownTable({ columns: ['step', 'told'], rows: STORY }, ['left', 'left']),
    originOf(ladder),
  ].join('\n\n');
}
