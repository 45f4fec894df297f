import { setTimeout as delay } from 'node:timers/promises';
import { Audience } from '../clients/audience.ts';
import type { Load, Memory, Phase, PhaseName, Run, Sample } from '../report/report.ts';
import { percentiles } from '../statistics.ts';
import { Pods } from '../targets/pods.ts';
import type { Server } from '../targets/server-process.ts';
import type { Target, Wiring } from '../targets/target.ts';
import { flood, reachAll } from './flood.ts';
import { Producer } from './producer.ts';
import { Sampler } from './sampler.ts';
import { Traffic } from './traffic.ts';
import { TrafficMeter } from './traffic-meter.ts';

/** How long the servers rest before their memory is measured, without clients and with all clients idle. */
const STILL_MS = 3_000;

/** The number of events whose promises are counted. */
const COUNTED_EVENTS = 10;

/** The warm-up: V8 compiles code only after some runs. */
const WARM_UP_EVENTS = 30;

const VISIT_EVERY_MS = 100;

/** Follows a run while it is under way. */
export interface RunObserver {
  phase?(phase: PhaseName): void;
  sample?(target: string, phase: PhaseName, sample: Sample): void;
  /** Called for snapshots: no client is connected; all are idle after the warm-up; or the flood is over. */
  moment?(name: 'nothing' | 'idle' | 'flood', servers: readonly Server[]): Promise<void>;
  /** Ends the run. */
  readonly signal: AbortSignal;
}

/**
 * Puts a load on a target, in phases: no client; all clients subscribed and idle; events one at a time; a flood.
 * Stops the processes that it has started.
 *
 * @throws if the servers can't be started, or end; or the reason with which the observer's signal is aborted
 */
export async function runLoad(
  target: Target,
  load: Load,
  wiring: Wiring,
  observer: RunObserver,
): Promise<Run> {
  const { signal } = observer;
  const pods = new Pods();
  let abort = (): void => undefined;
  try {
    signal.throwIfAborted();
    await pods.start(target, wiring, load.pods);
    signal.throwIfAborted();
    const givenUp = new Promise<never>((_resolve, reject) => {
      abort = () => reject(signal.reason as Error);
    });
    signal.addEventListener('abort', abort);
    const run = new LoadRun(target, load, wiring, observer, pods);
    return await Promise.race([run.run(), givenUp, pods.ended]);
  } finally {
    signal.removeEventListener('abort', abort);
    await pods.stop();
  }
}

class LoadRun {
  readonly #target: Target;
  readonly #load: Load;
  readonly #observer: RunObserver;
  readonly #pods: Pods;
  readonly #producer: Producer;
  readonly #traffic: Traffic;
  readonly #sampler: Sampler;
  readonly #phases: Phase[] = [];
  #audience: Audience | undefined;
  #phase: PhaseName = 'nothing';

  constructor(target: Target, load: Load, wiring: Wiring, observer: RunObserver, pods: Pods) {
    this.#target = target;
    this.#load = load;
    this.#observer = observer;
    this.#pods = pods;
    this.#producer = new Producer(wiring.brokers, wiring.topic);
    this.#traffic = new Traffic(this.#producer, load, Audience.subscribersByChannel(load));
    this.#sampler = new Sampler(
      pods,
      this.#traffic,
      () => this.#audience,
      (sample) => observer.sample?.(target.name, this.#phase, sample),
    );
  }

  async run(): Promise<Run> {
    try {
      const nothing = await this.#inPhase('nothing', () => this.#still('nothing'));
      const ports = this.#pods.servers.map(({ port }) => port);
      const audience = (this.#audience = new Audience(this.#load, ports));
      const meter = new TrafficMeter(this.#traffic, audience, this.#pods, this.#sampler);
      const idle = await this.#inPhase('idle', async () => {
        await audience.connect();
        await reachAll(this.#traffic, audience);
        await meter.oneByOne(WARM_UP_EVENTS);
        // The delays of the warm-up are dropped.
        await audience.report();
        return this.#still('idle');
      });
      const single = await this.#inPhase('single', () => this.#singles(meter));
      const promisesPerDelivery = await this.#promisesPerDelivery(meter);
      await audience.report();
      const flooded = await this.#inPhase('flood', () => this.#flood(meter, audience));
      await this.#observer.moment?.('flood', this.#pods.servers);
      return {
        target: this.#target.name,
        phases: this.#phases,
        samples: this.#sampler.samples,
        nothing,
        idle,
        ...single,
        promisesPerDelivery,
        ...flooded,
        faults: meter.faults,
      };
    } finally {
      this.#sampler.stop();
      await this.#audience?.stop();
      await this.#producer.stop();
    }
  }

  async #inPhase<T>(name: PhaseName, work: () => Promise<T>): Promise<T> {
    this.#phase = name;
    this.#observer.phase?.(name);
    const from = this.#sampler.now;
    const result = await work();
    this.#phases.push({ name, from, to: this.#sampler.now });
    return result;
  }

  async #still(moment: 'nothing' | 'idle'): Promise<Memory> {
    await delay(STILL_MS);
    const memory = {
      heapBytes: await this.#pods.collect(),
      residentBytes: this.#pods.usage.residentBytes,
      sockets: this.#audience?.open ?? 0,
    };
    await this.#observer.moment?.(moment, this.#pods.servers);
    return memory;
  }

  async #singles(meter: TrafficMeter): Promise<Pick<Run, 'single' | 'executionsPerEvent'>> {
    const before = await this.#pods.executions();
    const { figures } = await meter.measure(() => meter.oneByOne(this.#load.singles));
    const executed = (await this.#pods.executions()) - before;
    const counted = !Number.isNaN(executed) && figures.events > 0;
    return { single: figures, executionsPerEvent: counted ? executed / figures.events : null };
  }

  async #promisesPerDelivery(meter: TrafficMeter): Promise<number> {
    const before = this.#traffic.expected;
    const promises = await this.#pods.promisesOf(() => meter.oneByOne(COUNTED_EVENTS));
    return promises / (this.#traffic.expected - before);
  }

  async #flood(
    meter: TrafficMeter,
    audience: Audience,
  ): Promise<Pick<Run, 'flood' | 'handshake' | 'stalled'>> {
    const stalls = this.#load.stalled > 0;
    if (stalls) {
      audience.stall();
      this.#traffic.reduceTo(Audience.subscribersByChannel(this.#load, { reading: true }));
    }
    audience.visit(VISIT_EVERY_MS);
    const { figures, report } = await meter.measure(async () => {
      await flood(this.#load, this.#traffic, audience, this.#observer.signal);
      audience.stopVisiting();
      await meter.drained();
    });
    if (stalls) audience.release();
    await delay(stalls ? STILL_MS : 0);
    const { endings } = await meter.report();
    const sockets = this.#load.sockets - sum(Audience.subscribersByChannel(this.#load, { reading: true }));
    const open = sockets - sum(Object.values(endings));
    return {
      flood: figures,
      handshake: percentiles(report.handshakes),
      stalled: { sockets, endings: { ...endings, ...(open > 0 && { open }) } },
    };
  }
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
