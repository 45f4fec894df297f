import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs, { type Admin } from 'kafkajs';
import { committedBy } from '../../test/helpers/kafka-client.ts';
import type { Scope } from '../../test/helpers/scope.ts';
import { Audience } from '../clients/audience.ts';
import type { Load, TrafficFigures } from '../report/report.ts';
import { flood, reachAll } from '../run/flood.ts';
import { Producer } from '../run/producer.ts';
import { RunScope } from '../run/run-scope.ts';
import { Traffic } from '../run/traffic.ts';
import { TrafficMeter } from '../run/traffic-meter.ts';
import { bodyText, channelName, eventValue } from '../run/workload.ts';
import { prepare } from '../run/wiring.ts';
import { Pods } from '../targets/pods.ts';
import type { Target, Wiring } from '../targets/target.ts';

/** Events without subscribers that are written together. */
const WRITTEN_TOGETHER = 50_000;

/** Time between two looks at what the group has committed. */
const LOOK_MS = 50;

/** The first of the channels without subscribers. */
const UNWANTED_CHANNEL = 50_000;
const UNWANTED_CHANNELS = 4_000;

/** In place of a Sampler, which asks the server four times a second: that would be a part of what little happens. */
const UNSAMPLED = {
  samples: [],
  get now() {
    return Math.round(performance.now());
  },
};

/** A server and its clients, while one shape is measured. Nothing else asks the server for anything. */
export class ShapeRun {
  readonly load: Load;
  readonly faults: string[] = [];
  readonly #scope: Scope;
  readonly #wiring: Wiring;
  readonly #signal: AbortSignal;
  readonly #pods = new Pods();
  readonly #producer: Producer;
  #clients:
    { readonly audience: Audience; readonly traffic: Traffic; readonly meter: TrafficMeter } | undefined;
  #unwanted = 0;
  #admin: Promise<Admin> | undefined;

  private constructor(scope: Scope, load: Load, wiring: Wiring, signal: AbortSignal) {
    this.load = load;
    this.#scope = scope;
    this.#wiring = wiring;
    this.#signal = signal;
    this.#producer = new Producer(wiring.brokers, wiring.topic);
    scope.after(() => this.#producer.stop());
    scope.after(() => this.#pods.stop());
    scope.after(() => this.#clients?.audience.stop());
  }

  /** @returns what `measure` does, and the faults of what arrived meanwhile */
  static async of(
    target: Target,
    asked: Load,
    signal: AbortSignal,
    measure: (run: ShapeRun) => Promise<number>,
  ): Promise<{ readonly value: number; readonly faults: readonly string[] }> {
    const scope = new RunScope();
    // Ends what `measure` still does where the server has ended before.
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    try {
      const load = target.load?.(asked) ?? asked;
      const { wiring, undo } = await prepare(load);
      scope.after(undo);
      const run = new ShapeRun(scope, load, wiring, either);
      await run.#pods.start(target, wiring, load.pods);
      const interrupted = new Promise<never>((_resolve, reject) => {
        either.addEventListener('abort', () => reject(either.reason as Error), { once: true });
      });
      const value = await Promise.race([measure(run), run.#pods.ended, interrupted]);
      await run.#report();
      return { value, faults: run.faults };
    } finally {
      over.abort(new Error('the run is over'));
      await scope.end();
    }
  }

  /** User and system time of the server so far. */
  get cpuSeconds(): number {
    return this.#pods.usage.cpuSeconds;
  }

  /** Connects clients in place of those that there are. Resolves once an event has reached each. */
  async connect(load = this.load): Promise<void> {
    await this.disconnect();
    const ports = this.#pods.servers.map(({ port }) => port);
    this.#signal.throwIfAborted();
    const audience = new Audience(load, ports);
    const traffic = new Traffic(this.#producer, load, Audience.subscribersByChannel(load));
    this.#clients = { audience, traffic, meter: new TrafficMeter(traffic, audience, this.#pods, UNSAMPLED) };
    await audience.connect();
    await reachAll(traffic, audience);
  }

  async disconnect(): Promise<void> {
    await this.#report();
    await this.#clients?.audience.stop();
    this.#clients = undefined;
  }

  /** Sends the load's events for so long. Resolves once all have arrived. */
  async flood(floodSeconds: number): Promise<TrafficFigures> {
    assert.ok(this.#clients);
    const { audience, traffic, meter } = this.#clients;
    const { figures } = await meter.measure(async () => {
      await flood({ ...this.load, floodSeconds }, traffic, audience, this.#signal);
      await meter.drained();
    });
    return figures;
  }

  /** Sends events of channels without subscribers. Resolves once the server's group has committed them. */
  async sendUnwanted(events: number): Promise<void> {
    const body = bodyText(this.load);
    for (let left = events; left > 0; left -= WRITTEN_TOGETHER) {
      this.#signal.throwIfAborted();
      const messages = Array.from({ length: Math.min(left, WRITTEN_TOGETHER) }, () => {
        const channel = channelName(UNWANTED_CHANNEL + (this.#unwanted % UNWANTED_CHANNELS));
        this.#unwanted += 1;
        return { key: channel, value: eventValue(this.load, channel, this.#unwanted, Date.now(), body) };
      });
      await this.#producer.send(messages);
    }
    const { topic, id } = this.#wiring;
    this.#admin ??= this.#connectAdmin();
    const admin = await this.#admin;
    const ends = await admin.fetchTopicOffsets(topic);
    const end = ends.reduce((sum, { high }) => sum + Number(high), 0);
    while ((await committedBy(admin, id, topic)) < end) {
      await delay(LOOK_MS, undefined, { signal: this.#signal });
    }
  }

  /** @returns user and system time in a second without events */
  async cpuOfRest(seconds: number): Promise<number> {
    const [before, from] = [this.cpuSeconds, performance.now()];
    await delay(seconds * 1_000, undefined, { signal: this.#signal });
    return (this.cpuSeconds - before) / ((performance.now() - from) / 1_000);
  }

  async #report(): Promise<void> {
    if (this.#clients === undefined) return;
    const { meter } = this.#clients;
    await meter.report();
    this.faults.push(...meter.faults.splice(0));
  }

  async #connectAdmin(): Promise<Admin> {
    const brokers = this.#wiring.brokers.split(',');
    const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
    this.#scope.after(() => admin.disconnect());
    await admin.connect();
    return admin;
  }
}
