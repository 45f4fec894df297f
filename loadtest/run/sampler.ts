import type { Audience } from '../clients/audience.ts';
import type { Sample } from '../report/report.ts';
import type { Pods } from '../targets/pods.ts';
import type { Traffic } from './traffic.ts';

const EVERY_MS = 250;

/** Samples the servers and clients of a run a few times a second. */
export class Sampler {
  readonly samples: Sample[] = [];
  readonly #pods: Pods;
  readonly #traffic: Traffic;
  readonly #audience: () => Audience | undefined;
  readonly #seen: (sample: Sample) => void;
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout;
  #looking = false;

  /** @param audience returns undefined before clients connect */
  constructor(
    pods: Pods,
    traffic: Traffic,
    audience: () => Audience | undefined,
    seen: (sample: Sample) => void,
  ) {
    this.#pods = pods;
    this.#traffic = traffic;
    this.#audience = audience;
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

  /** Takes no sample while a server is too busy to answer. */
  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const states = await this.#pods.states();
      const { residentBytes, cpuSeconds } = this.#pods.usage;
      const audience = this.#audience();
      const sample: Sample = {
        at: this.now,
        residentBytes,
        heapBytes: sum(states.map(({ heapBytes }) => heapBytes)),
        externalBytes: sum(states.map(({ externalBytes }) => externalBytes)),
        cpuSeconds,
        loopUtilisation: Math.max(...states.map(({ loopUtilisation }) => loopUtilisation)),
        loopDelayMs: Math.max(...states.map(({ loopDelayMs }) => loopDelayMs)),
        sockets: audience?.open ?? 0,
        eventsSent: this.#traffic.events,
        deliveries: audience?.deliveries ?? 0,
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
