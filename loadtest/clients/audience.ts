import type { Assignment, ClientReport, Progress } from './client-messages.ts';
import { ClientProcess } from './client-process.ts';
import type { Load } from '../report/report.ts';

/** Sockets that parse and time every event, in a process of their own that has enough CPU for it. */
const TIMING_SOCKETS = 20;

/** In the other processes, one socket of this many parses its events. */
const SAMPLE_EVERY = 50;

/** One process counts the frames of this many sockets without being the bottleneck. */
const SOCKETS_PER_PROCESS = 10_000;

/** All clients of a run: many only count their events, and a few parse and time every event. */
export class Audience {
  readonly #counting: readonly ClientProcess[];
  readonly #timing: ClientProcess;
  readonly #load: Load;
  #changing: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  /** @param perSecond sockets that each process connects in a second; absent: as fast as the server takes them */
  constructor(load: Load, ports: readonly number[], perSecond?: number) {
    this.#load = load;
    const common = { endpoints: ports.map((port) => ({ host: '127.0.0.1', port })), load, perSecond };
    const start = (
      assignment: Pick<Assignment, 'first' | 'sockets' | 'stalled' | 'sampleEvery'>,
    ): ClientProcess => new ClientProcess({ ...common, ...assignment }, () => this.#notify());
    this.#counting = countingRanges(load).map((range) => start({ ...range, sampleEvery: SAMPLE_EVERY }));
    this.#timing = start({ first: 0, sockets: timingSockets(load), stalled: 0, sampleEvery: 1 });
  }

  get open(): number {
    return this.#sum('open');
  }

  get deliveries(): number {
    return this.#sum('deliveries');
  }

  /** Bytes that the sockets have read. */
  get bytes(): number {
    return this.#sum('bytes');
  }

  /** Returns the number of sockets of each channel. @param reading leaves out sockets that stop reading */
  static subscribersByChannel(load: Load, { reading } = { reading: false }): number[] {
    const counts = Array.from({ length: Math.max(1, load.channels) }, () => 0);
    const stalls = countingRanges(load).map((range) => range.first + range.sockets - range.stalled);
    for (const [part, { first, sockets }] of [
      { first: 0, sockets: timingSockets(load) },
      ...countingRanges(load),
    ].entries()) {
      const end = reading && part > 0 ? (stalls[part - 1] ?? 0) : first + sockets;
      for (let index = first; index < end; index += 1) {
        const channel = load.channels === 0 ? 0 : index % load.channels;
        counts[channel] = (counts[channel] ?? 0) + 1;
      }
    }
    return counts;
  }

  /**
   * Resolves when all sockets have connected and sent their subscription.
   *
   * @throws if the server ends one of them
   */
  async connect(): Promise<void> {
    for (const clients of this.#all) clients.send({ type: 'open' });
    while (this.open < this.#load.sockets) {
      await this.changed();
      const ended = this.#sum('closed');
      if (ended > 0) throw new Error(`expected ${this.#load.sockets} open sockets, got ${ended} that ended`);
    }
  }

  async reached(seq: number): Promise<void> {
    await Promise.all(this.#all.map((clients) => clients.reached(seq)));
  }

  /** Resolves when a process reports new counts. */
  changed(): Promise<void> {
    this.#changing ??= new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    return this.#changing;
  }

  stall(): void {
    for (const clients of this.#counting) clients.send({ type: 'stall' });
  }

  release(): void {
    for (const clients of this.#counting) clients.send({ type: 'release' });
  }

  visit(everyMs: number): void {
    this.#timing.send({ type: 'visit', everyMs });
  }

  stopVisiting(): void {
    this.#timing.send({ type: 'stop-visiting' });
  }

  /** Returns what clients have noted since the last report. The delays are from the process that times every event. */
  async report(): Promise<ClientReport> {
    const [timing, ...counting] = await Promise.all(
      [this.#timing, ...this.#counting].map((clients) => clients.report()),
    );
    const endings: Record<string, number> = {};
    for (const report of counting) {
      for (const [how, count] of Object.entries(report.endings)) endings[how] = (endings[how] ?? 0) + count;
    }
    return {
      type: 'report',
      delays: timing?.delays ?? [],
      handshakes: timing?.handshakes ?? [],
      faults: [timing, ...counting].flatMap((report) => report?.faults ?? []),
      endings,
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((clients) => clients.stop()));
  }

  #notify(): void {
    this.#changing = undefined;
    this.#wake();
  }

  get #all(): readonly ClientProcess[] {
    return [this.#timing, ...this.#counting];
  }

  #sum(what: Exclude<keyof Progress, 'type'>): number {
    return this.#all.reduce((sum, { progress }) => sum + progress[what], 0);
  }
}

function timingSockets({ sockets }: Load): number {
  return Math.min(sockets, TIMING_SOCKETS);
}

/** Deals out the sockets that only count to processes. */
function countingRanges(load: Load): Pick<Assignment, 'first' | 'sockets' | 'stalled'>[] {
  const from = timingSockets(load);
  const processes = Math.ceil((load.sockets - from) / SOCKETS_PER_PROCESS);
  const share = Math.ceil((load.sockets - from) / processes);
  return Array.from({ length: processes }, (_, index) => {
    const first = from + index * share;
    const sockets = Math.min(share, load.sockets - first);
    return { first, sockets, stalled: Math.round(sockets * load.stalled) };
  });
}
