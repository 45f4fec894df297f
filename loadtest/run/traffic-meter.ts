import { setTimeout as delay } from 'node:timers/promises';
import type { Audience } from '../clients/audience.ts';
import type { ClientReport } from '../clients/client-messages.ts';
import type { TrafficFigures } from '../report/report.ts';
import { percentiles } from '../statistics.ts';
import type { Pods } from '../targets/pods.ts';
import type { Sampler } from './sampler.ts';
import type { Traffic } from './traffic.ts';

/** After this time without any delivery, missing deliveries count as lost. */
const LOST_AFTER_MS = 120_000;

/** Sends events, waits for their deliveries, and measures the server's costs. */
export class TrafficMeter {
  /** Faults of the deliveries, in words. */
  readonly faults: string[] = [];
  readonly #traffic: Traffic;
  readonly #audience: Audience;
  readonly #pods: Pods;
  readonly #sampler: Pick<Sampler, 'now' | 'samples'>;

  constructor(traffic: Traffic, audience: Audience, pods: Pods, sampler: Pick<Sampler, 'now' | 'samples'>) {
    this.#traffic = traffic;
    this.#audience = audience;
    this.#pods = pods;
    this.#sampler = sampler;
  }

  /** Sends `events` events, each when the one before has reached all sockets. */
  async oneByOne(events: number): Promise<void> {
    for (let event = 0; event < events; event += 1) {
      await this.#traffic.send(1);
      await this.drained();
    }
  }

  /** Resolves when all deliveries have come, or LOST_AFTER_MS after the last one: missing deliveries are a fault. */
  async drained(): Promise<void> {
    const audience = this.#audience;
    let last = audience.deliveries;
    let since = this.#sampler.now;
    while (last < this.#traffic.expected && this.#sampler.now - since < LOST_AFTER_MS) {
      await Promise.race([audience.changed(), delay(LOST_AFTER_MS, undefined, { ref: false })]);
      if (audience.deliveries > last) since = this.#sampler.now;
      last = audience.deliveries;
    }
    const { deliveries } = audience;
    if (deliveries !== this.#traffic.expected) {
      this.faults.push(`expected ${this.#traffic.expected} deliveries in all, got ${deliveries}`);
      this.#traffic.settle(deliveries);
    }
  }

  /** Returns the clients' report since the last one; adds its faults to `faults`. */
  async report(): Promise<ClientReport> {
    const report = await this.#audience.report();
    this.faults.push(...report.faults);
    return report;
  }

  /** @param work sends events and waits for their deliveries */
  async measure(
    work: () => Promise<void>,
  ): Promise<{ readonly figures: TrafficFigures; readonly report: ClientReport }> {
    const sampler = this.#sampler;
    const before = { ...this.#pods.usage, events: this.#traffic.events };
    const { deliveries, bytes } = this.#audience;
    const from = sampler.now;
    const samplesBefore = sampler.samples.length;
    await work();
    const seconds = (sampler.now - from) / 1000;
    const after = this.#pods.usage;
    const report = await this.report();
    const resident = sampler.samples.slice(samplesBefore).map(({ residentBytes }) => residentBytes);
    const figures = {
      events: this.#traffic.events - before.events,
      deliveries: this.#audience.deliveries - deliveries,
      bytes: this.#audience.bytes - bytes,
      seconds,
      cpuSeconds: after.cpuSeconds - before.cpuSeconds,
      residentBytes: Math.max(after.residentBytes, ...resident),
      delay: percentiles(report.delays),
    };
    return { figures, report };
  }
}
