import { FIGURES, MB, ratio, type Figure, type Unit } from './figures.ts';
import type { Load, Report, Run } from './report.ts';

/** The limit of a figure. The design's own budgets are in `BUDGETS`; other budgets are judged in the same way. */
export interface Budget {
  readonly name: string;
  readonly unit: Unit | '×';
  readonly direction: 'at most' | 'at least';
  limit(report: Report): number;
  /** Says why a load tells nothing about this budget; undefined: the load is fit for it. */
  unfit(load: Load): string | undefined;
  /** Returns the figure of Sluice, or of stock ÷ Sluice; null: not measured. */
  value(sluice: Run, stock: Run | undefined): number | null;
  /** Whether `value` needs a run of stock. */
  readonly beside: boolean;
  /** Whether the worst of several runs counts, and not the median: for faults that must never happen. */
  readonly worst?: boolean;
}

export interface Judgement {
  readonly budget: Budget;
  readonly verdict: 'met' | 'missed' | 'not measured';
  /** null: not measured. */
  readonly value: number | null;
  readonly limit: number;
  /** Why the budget was not measured. */
  readonly reason?: string;
}

/** With fewer sockets, the server's work without deliveries would be a large part of the figures. */
const MANY = 4_000;

const BUFFERS_ASIDE_MB = 64;

/** An event's own promises are divided by its deliveries: if these are many, a smaller quotient counts as none. */
const NO_PROMISE = 0.1;

/** The budget for deliveries of Sluice that are doubled, missing, out of order or wrong. */
export const NO_FAULTS: Budget = {
  ...none('faults in count, order and content of what arrived'),
  unfit: () => undefined,
  value: ({ faults }) => faults.length,
};

export const BUDGETS: readonly Budget[] = [
  {
    ...besideStock(FIGURES.cpuPerDeliverySingle, 6),
    unfit: (load) => toAll(load) ?? many(load) ?? allRead(load),
  },
  {
    ...besideStock(FIGURES.cpuPerDeliveryFlood, 30),
    unfit: (load) => toAll(load) ?? many(load) ?? allRead(load) ?? unbraked(load),
  },
  {
    ...besideStock(FIGURES.cpuPerEventFlood, 4),
    unfit: (load) => ofItsOwn(load) ?? many(load) ?? allRead(load) ?? unbraked(load),
  },
  {
    ...atMost(FIGURES.heapPerSocket, 5.5),
    name: `${FIGURES.heapPerSocket.name}, same variables`,
    unfit: (load) =>
      toAll(load) ??
      many(load) ??
      inOneProcess(load) ??
      (load.variables === 'same' ? undefined : 'needs the same variables'),
  },
  {
    ...atMost(FIGURES.heapPerSocket, 7),
    name: `${FIGURES.heapPerSocket.name}, variables all different`,
    unfit: (load) =>
      toAll(load) ??
      many(load) ??
      inOneProcess(load) ??
      (load.variables === 'unique' ? undefined : 'needs variables all different'),
  },
  {
    ...atMost(FIGURES.residentPerSocket, 12),
    unfit: (load) => toAll(load) ?? many(load) ?? inOneProcess(load),
  },
  {
    ...atMost(FIGURES.promisesPerDelivery, NO_PROMISE),
    unfit: (load) =>
      toAll(load) ?? inOneProcess(load) ?? (load.sockets >= 500 ? undefined : 'needs 500 sockets or more'),
  },
  {
    ...atMost(FIGURES.executionsPerEvent, 1),
    name: `${FIGURES.executionsPerEvent.name}, identical subscribers`,
    limit: ({ load }) => load.pods * (load.workers ?? 1),
    unfit: (load) => toAll(load) ?? (load.variables === 'same' ? undefined : 'needs the same variables'),
  },
  {
    ...atMost(FIGURES.growthInFlood, BUFFERS_ASIDE_MB),
    name: 'growth of resident memory while some do not read',
    limit: ({ load }) => BUFFERS_ASIDE_MB + (stalledSockets(load) * (load.socketBufferBytes ?? 0)) / MB,
    unfit: (load) =>
      someStall(load) ?? (load.socketBufferBytes ? undefined : 'needs the bound of what waits for a socket'),
  },
  {
    ...none('stalled sockets that were neither told 1013 nor terminated'),
    unfit: someStall,
    value: ({ stalled: { sockets, endings } }) =>
      sockets - (endings['1013'] ?? 0) - (endings['terminated'] ?? 0),
  },
  NO_FAULTS,
];

export function judge(report: Report, budgets: readonly Budget[] = BUDGETS): readonly Judgement[] {
  const run = (target: string): Run | undefined => report.runs.find((one) => one.target === target);
  const [sluice, stock] = [run('sluice'), run('stock')];
  return budgets.map((budget) => {
    const limit = budget.limit(report);
    const without = (reason: string): Judgement => ({
      budget,
      verdict: 'not measured',
      value: null,
      limit,
      reason,
    });
    const unfit = budget.unfit(report.load);
    if (unfit !== undefined) return without(unfit);
    if (sluice === undefined) return without('needs a run of sluice');
    if (budget.beside && stock === undefined) return without('needs a run of stock in the same report');
    const value = budget.value(sluice, stock);
    if (value === null) return without('the run has no such figure');
    return verdictOn(budget, value, limit);
  });
}

export function verdictOn(budget: Budget, value: number, limit: number): Judgement {
  const met = budget.direction === 'at most' ? value <= limit : value >= limit;
  return { budget, verdict: met ? 'met' : 'missed', value, limit };
}

/** Returns a budget of stock ÷ Sluice. */
export function besideStock(figure: Figure, limit: number): Omit<Budget, 'unfit'> {
  return {
    name: `${figure.name}, stock ÷ sluice`,
    unit: '×',
    direction: 'at least',
    limit: () => limit,
    value: (sluice, stock) => ratio(figure, stock, sluice),
    beside: true,
  };
}

/** Returns a budget of Sluice alone. */
export function atMost(figure: Figure, limit: number): Omit<Budget, 'unfit'> {
  return {
    name: figure.name,
    unit: figure.unit,
    direction: 'at most',
    limit: () => limit,
    value: (sluice) => figure.of(sluice),
    beside: false,
  };
}

function none(name: string): Omit<Budget, 'unfit' | 'value'> {
  return { name, unit: '', direction: 'at most', limit: () => 0, beside: false, worst: true };
}

const stalledSockets = ({ sockets, stalled }: Load): number => Math.round(sockets * stalled);

function toAll({ channels }: Load): string | undefined {
  return channels === 0 ? undefined : 'needs events that go to all sockets';
}

/** The probe answers for the primary process alone. */
function inOneProcess({ workers = 1 }: Load): string | undefined {
  return workers === 1 ? undefined : 'needs one worker';
}

function ofItsOwn({ channels, sockets }: Load): string | undefined {
  return channels === sockets ? undefined : 'needs a channel for each socket';
}

function many({ sockets }: Load): string | undefined {
  return sockets >= MANY ? undefined : `needs ${MANY.toLocaleString('en')} sockets or more`;
}

function allRead({ stalled }: Load): string | undefined {
  return stalled === 0 ? undefined : 'needs sockets that all read';
}

function someStall({ stalled }: Load): string | undefined {
  return stalled > 0 ? undefined : 'needs sockets that stop reading';
}

function unbraked({ rate }: Load): string | undefined {
  return rate === 0 ? undefined : 'needs a flood without a rate';
}
