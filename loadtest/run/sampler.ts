import type { Audience } from '../clients/audience.ts';
import type { Sample } from '../report/report.ts';
import type { Server } from '../targets/server-process.ts';
import type { Traffic } from './traffic.ts';

const EVERY_MS = 250;

interface Sources {
  readonly servers: readonly Server[];
  readonly audience: () => Audience | undefined;
  readonly traffic: () => Traffic | undefined;
}

/** Looks at the servers and clients of a run a few times a second. */
export class Sampler {
  readonly samples: Sample[] = [];
  readonly #sources: Sources;
  readonly #seen: (sample: Sample) => void;
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout;
  #looking = false;

  constructor(sources: Sources, seen: (sample: Sample) => void) {
    this.#sources = sources;
    this.#seen = seen;
    this.#timer = setInterval(() => void this.#look(), EVERY_MS);
  }

  /** ms since the run began */
  get now(): number {
    return Math.round(performance.now() - this.#began);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A server that is too busy to answer leaves a gap. */
  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const { servers, audience, traffic } = this.#sources;
      const states = await Promise.all(servers.map((server) => server.ask('state')));
      const usages = servers.map(({ usage }) => usage);
      const sample: Sample = {
        at: this.now,
        residentBytes: sum(usages.map(({ residentBytes }) => residentBytes)),
        heapBytes: sum(states.map(({ heapBytes }) => heapBytes)),
        externalBytes: sum(states.map(({ externalBytes }) => externalBytes)),
        cpuSeconds: sum(usages.map(({ cpuSeconds }) => cpuSeconds)),
        loopUtilisation: Math.max(...states.map(({ loopUtilisation }) => loopUtilisation)),
        loopDelayMs: Math.max(...states.map(({ loopDelayMs }) => loopDelayMs)),
        sockets: audience()?.open ?? 0,
        eventsSent: traffic()?.events ?? 0,
        deliveries: audience()?.deliveries ?? 0,
      };
      this.samples.push(sample);
      this.#seen(sample);
    } catch {
      // The server has ended: its `ended` rejects, which ends the run.
    } finally {
      this.#looking = false;
    }
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
