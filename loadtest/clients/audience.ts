import { Clients } from './client-process.ts';
import type { Assignment, ClientReport, Order, Progress } from './client-messages.ts';
import type { Load } from '../report/report.ts';

/** Sockets that parse and time all that they get, in a process that has time for it. */
const WATCHERS = 20;

/** Among the others, so many share one that parses. */
const SAMPLE_EVERY = 50;

/** One process counts the frames of so many sockets without being what is measured. */
const SOCKETS_PER_PROCESS = 10_000;

/** All clients of a run: many that count, and a few that watch closely. */
export class Audience {
  readonly #counting: readonly Clients[];
  readonly #watching: Clients;
  readonly #load: Load;
  #changing: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  constructor(load: Load, ports: readonly number[]) {
    this.#load = load;
    const common = { endpoints: ports.map((port) => ({ host: '127.0.0.1', port })), load };
    const start = (assignment: Pick<Assignment, 'first' | 'sockets' | 'stalled' | 'sampleEvery'>): Clients =>
      new Clients({ ...common, ...assignment }, () => this.#tell());
    this.#counting = countingRanges(load).map((range) => start({ ...range, sampleEvery: SAMPLE_EVERY }));
    this.#watching = start({ first: 0, sockets: watchers(load), stalled: 0, sampleEvery: 1 });
  }

  get open(): number {
    return this.#sum('open');
  }

  get deliveries(): number {
    return this.#sum('deliveries');
  }

  /** Sockets of each channel. @param reading without those that stop reading */
  static watchersOf(load: Load, { reading }: { reading: boolean }): number[] {
    const watchersOf = Array.from({ length: Math.max(1, load.channels) }, () => 0);
    const stalls = countingRanges(load).map((range) => range.first + range.sockets - range.stalled);
    for (const [part, { first, sockets }] of [
      { first: 0, sockets: watchers(load) },
      ...countingRanges(load),
    ].entries()) {
      const end = reading && part > 0 ? (stalls[part - 1] ?? 0) : first + sockets;
      for (let index = first; index < end; index += 1) {
        const channel = load.channels === 0 ? 0 : index % load.channels;
        watchersOf[channel] = (watchersOf[channel] ?? 0) + 1;
      }
    }
    return watchersOf;
  }

  /** Resolves when all have connected and sent their subscription. @throws if some are refused */
  async connect(): Promise<void> {
    this.#order({ order: 'open' });
    while (this.open < this.#load.sockets) await this.changed();
  }

  async reached(seq: number): Promise<void> {
    await Promise.all(this.#all.map((clients) => clients.reached(seq)));
  }

  /** Resolves when a count has changed. */
  changed(): Promise<void> {
    this.#changing ??= new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    return this.#changing;
  }

  stall(): void {
    for (const clients of this.#counting) clients.order({ order: 'stall' });
  }

  release(): void {
    for (const clients of this.#counting) clients.order({ order: 'release' });
  }

  visit(everyMs: number): void {
    this.#watching.order({ order: 'visit', everyMs });
  }

  stopVisiting(): void {
    this.#watching.order({ order: 'stop-visiting' });
  }

  /** What was seen since the last time. Delays are those of the process that has time to look. */
  async report(): Promise<ClientReport> {
    const [watching, ...counting] = await Promise.all(
      [this.#watching, ...this.#counting].map((clients) => clients.report()),
    );
    const endings: Record<string, number> = {};
    for (const report of counting) {
      for (const [how, count] of Object.entries(report.endings)) endings[how] = (endings[how] ?? 0) + count;
    }
    return {
      tell: 'report',
      delays: watching?.delays ?? [],
      handshakes: watching?.handshakes ?? [],
      faults: [watching, ...counting].flatMap((report) => report?.faults ?? []),
      endings,
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((clients) => clients.stop()));
  }

  #tell(): void {
    this.#changing = undefined;
    this.#wake();
  }

  get #all(): readonly Clients[] {
    return [this.#watching, ...this.#counting];
  }

  #order(order: Order): void {
    for (const clients of this.#all) clients.order(order);
  }

  #sum(what: Exclude<keyof Progress, 'tell'>): number {
    return this.#all.reduce((sum, { progress }) => sum + progress[what], 0);
  }
}

function watchers({ sockets }: Load): number {
  return Math.min(sockets, WATCHERS);
}

/** The sockets that only count, by process. */
function countingRanges(load: Load): Pick<Assignment, 'first' | 'sockets' | 'stalled'>[] {
  const from = watchers(load);
  const processes = Math.ceil((load.sockets - from) / SOCKETS_PER_PROCESS);
  const share = Math.ceil((load.sockets - from) / processes);
  return Array.from({ length: processes }, (_, index) => {
    const first = from + index * share;
    const sockets = Math.min(share, load.sockets - first);
    return { first, sockets, stalled: Math.round(sockets * load.stalled) };
  });
}
