import type { Load, Machine, PhaseName, Report } from './report.ts';
import { GB } from './figures.ts';

/** The names of the phases for readers. */
export const PHASES: Readonly<Record<PhaseName, string>> = {
  nothing: 'nothing',
  idle: 'idle',
  single: 'single events',
  flood: 'flood',
};

export const count = (value: number): string => value.toLocaleString('en');

/** Describes the load of a report in a title. */
export function title({ sockets, channels, stalled, variables, workers = 1 }: Load): string {
  const whom =
    channels === 0
      ? 'every event to all'
      : channels === sockets
        ? 'a channel each'
        : `${count(channels)} channels`;
  const stuck = stalled > 0 ? `, ${percent(stalled)} of them stop reading` : '';
  const variety = variables === 'unique' ? ', variables all different' : '';
  const processes = workers > 1 ? `, ${workers} workers` : '';
  return `${count(sockets)} sockets, ${whom}${variety}${stuck}${processes}`;
}

/** Describes the rest of the load. */
export function details(load: Load): string {
  return [
    `graph ${load.graph}`,
    load.pods === 1 ? 'one pod' : `${load.pods} pods`,
    ...((load.workers ?? 1) > 1 ? [`${load.workers} workers each`] : []),
    load.ids === 'same' ? 'one subscription id for all' : 'subscription ids all different',
    load.variables === 'same' ? 'the same variables' : 'variables all different',
    `results of ${count(load.payloadBytes)} bytes`,
    `${count(load.singles)} single events`,
    `flood of ${count(load.floodSeconds)} s, ${count(load.window)} events under way` +
      (load.rate > 0 ? `, ${count(load.rate)} a second at most` : ''),
  ].join('; ');
}

export function machine({ processor, cores, memoryBytes, system }: Machine): string {
  return `${processor}, ${cores} cores, ${(memoryBytes / GB).toFixed(1)} GB, ${system}`;
}

export function versions(report: Pick<Report, 'versions'>): string {
  return Object.entries(report.versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
