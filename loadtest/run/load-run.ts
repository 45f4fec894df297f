import { setTimeout as delay } from 'node:timers/promises';
import { Audience } from '../clients/audience.ts';
import { flood, reachAll } from './flood.ts';
import { percentiles } from '../statistics.ts';
import { Producer } from './producer.ts';
import type { Load, Memory, Phase, PhaseName, Run, Sample, TrafficFigures } from '../report/report.ts';
import { Sampler } from './sampler.ts';
import { Server } from '../targets/server-process.ts';
import type { Target, Wiring } from '../targets/target.ts';
import { Traffic } from './traffic.ts';

/** How long the servers rest before their memory is measured: without clients, and with all clients idle. */
const STILL_MS = 3_000;

/** Without any delivery for so long, those that are missing are taken for lost. */
const LOST_AFTER_MS = 20_000;

/** Events whose promises are counted. */
const COUNTED_EVENTS = 10;

/** Warm-up: code is compiled after some runs. */
const WARM_UP_EVENTS = 30;

const VISIT_EVERY_MS = 100;

/** Is told how a run goes, while it is under way. */
export interface RunObserver {
  phase?(phase: PhaseName): void;
  sample?(target: string, phase: PhaseName, sample: Sample): void;
  /** All have subscribed, and none has been sent anything but the warm-up; or the flood is over. For snapshots. */
  moment?(name: 'nothing' | 'idle' | 'flood', servers: readonly Server[]): Promise<void>;
  /** Gives the run up. */
  readonly signal: AbortSignal;
}

/**
 * Puts a load on a target, in phases: no client; all clients subscribed and idle; events one at a time; a flood.
 * Stops all that it has started.
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
  const servers: Server[] = [];
  let abort = (): void => undefined;
  try {
    signal.throwIfAborted();
    for (let pod = 0; pod < load.pods; pod += 1) servers.push(await Server.start(target, wiring));
    const givenUp = new Promise<never>((_resolve, reject) => {
      abort = () => reject(signal.reason as Error);
    });
    signal.addEventListener('abort', abort);
    const run = new LoadRun(target, load, wiring, observer, servers);
    return await Promise.race([run.run(), givenUp, ...servers.map((server) => server.ended)]);
  } finally {
    signal.removeEventListener('abort', abort);
    await Promise.all(servers.map((server) => server.stop()));
  }
}

class LoadRun {
  readonly #target: Target;
  readonly #load: Load;
  readonly #observer: RunObserver;
  readonly #servers: readonly Server[];
  readonly #producer: Producer;
  readonly #traffic: Traffic;
  readonly #sampler: Sampler;
  readonly #phases: Phase[] = [];
  readonly #faults: string[] = [];
  #audience: Audience | undefined;
  #phase: PhaseName = 'nothing';

  constructor(target: Target, load: Load, wiring: Wiring, observer: RunObserver, servers: readonly Server[]) {
    this.#target = target;
    this.#load = load;
    this.#observer = observer;
    this.#servers = servers;
    this.#producer = new Producer(wiring.brokers, wiring.topic);
    this.#traffic = new Traffic(
      this.#producer,
      load,
      Audience.subscribersByChannel(load, { reading: false }),
    );
    this.#sampler = new Sampler(
      { servers, audience: () => this.#audience, traffic: () => this.#traffic },
      (sample) => observer.sample?.(target.name, this.#phase, sample),
    );
  }

  async run(): Promise<Run> {
    try {
      const nothing = await this.#inPhase('nothing', () => this.#still('nothing'));
      const audience = (this.#audience = new Audience(
        this.#load,
        this.#servers.map(({ port }) => port),
      ));
      const idle = await this.#inPhase('idle', async () => {
        await audience.connect();
        await this.#warmUp(audience);
        return this.#still('idle');
      });
      const executions = await this.#executions();
      const single = await this.#inPhase('single', () => this.#singles(audience));
      const executed = (await this.#executions()) - executions;
      const promisesPerDelivery = await this.#countPromises(audience);
      const flooded = await this.#inPhase('flood', () => this.#flood(audience));
      await this.#observer.moment?.('flood', this.#servers);
      return {
        target: this.#target.name,
        phases: this.#phases,
        samples: this.#sampler.samples,
        nothing,
        idle,
        single,
        promisesPerDelivery,
        executionsPerEvent: Number.isNaN(executed) || single.events === 0 ? null : executed / single.events,
        ...flooded,
        faults: this.#faults,
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
    const collected = await Promise.all(this.#servers.map((server) => server.ask('collect')));
    const memory = {
      heapBytes: collected.reduce((sum, { heapBytes }) => sum + heapBytes, 0),
      residentBytes: this.#usage().residentBytes,
      sockets: this.#audience?.open ?? 0,
    };
    await this.#observer.moment?.(moment, this.#servers);
    return memory;
  }

  async #warmUp(audience: Audience): Promise<void> {
    await reachAll(this.#traffic, audience);
    for (let event = 0; event < WARM_UP_EVENTS; event += 1) {
      await this.#traffic.send(1);
      await this.#drained(audience);
    }
    await audience.report();
  }

  async #singles(audience: Audience): Promise<TrafficFigures> {
    return this.#measured(audience, async () => {
      for (let event = 0; event < this.#load.singles; event += 1) {
        await this.#traffic.send(1);
        await this.#drained(audience);
      }
    });
  }

  async #countPromises(audience: Audience): Promise<number> {
    const before = this.#traffic.expected;
    await Promise.all(this.#servers.map((server) => server.ask('count-promises')));
    for (let event = 0; event < COUNTED_EVENTS; event += 1) {
      await this.#traffic.send(1);
      await this.#drained(audience);
    }
    const counted = await Promise.all(this.#servers.map((server) => server.ask('promises-counted')));
    await audience.report();
    return counted.reduce((sum, { promises }) => sum + promises, 0) / (this.#traffic.expected - before);
  }

  async #flood(audience: Audience): Promise<Pick<Run, 'flood' | 'handshake' | 'stalled'>> {
    const stalls = this.#load.stalled > 0;
    if (stalls) {
      audience.stall();
      this.#traffic.reduceTo(Audience.subscribersByChannel(this.#load, { reading: true }));
    }
    audience.visit(VISIT_EVERY_MS);
    let handshakes: readonly number[] = [];
    const figures = await this.#measured(
      audience,
      async () => {
        await flood(this.#load, this.#traffic, audience, this.#observer.signal);
        audience.stopVisiting();
        await this.#drained(audience);
      },
      (report) => (handshakes = report.handshakes),
    );
    if (stalls) audience.release();
    await delay(stalls ? STILL_MS : 0);
    const { endings, faults } = await audience.report();
    this.#faults.push(...faults);
    const wanted = Audience.subscribersByChannel(this.#load, { reading: false }).reduce(
      (sum, count) => sum + count,
      0,
    );
    const reading = Audience.subscribersByChannel(this.#load, { reading: true }).reduce(
      (sum, count) => sum + count,
      0,
    );
    const stalled = wanted - reading;
    const open = stalled - Object.values(endings).reduce((sum, count) => sum + count, 0);
    return {
      flood: figures,
      handshake: percentiles(handshakes),
      stalled: { sockets: stalled, endings: { ...endings, ...(open > 0 && { open }) } },
    };
  }

  async #measured(
    audience: Audience,
    work: () => Promise<void>,
    reported: (report: Awaited<ReturnType<Audience['report']>>) => void = () => undefined,
  ): Promise<TrafficFigures> {
    const before = { ...this.#usage(), events: this.#traffic.events, deliveries: audience.deliveries };
    const from = this.#sampler.now;
    const samplesBefore = this.#sampler.samples.length;
    await work();
    const seconds = (this.#sampler.now - from) / 1000;
    const after = this.#usage();
    const report = await audience.report();
    this.#faults.push(...report.faults);
    reported(report);
    const resident = this.#sampler.samples.slice(samplesBefore).map(({ residentBytes }) => residentBytes);
    return {
      events: this.#traffic.events - before.events,
      deliveries: audience.deliveries - before.deliveries,
      seconds,
      cpuSeconds: after.cpuSeconds - before.cpuSeconds,
      residentBytes: Math.max(after.residentBytes, ...resident),
      delay: percentiles(report.delays),
    };
  }

  /** Resolves when everything has arrived, or nothing does any more: what is missing then is a fault. */
  async #drained(audience: Audience): Promise<void> {
    let last = audience.deliveries;
    let since = this.#sampler.now;
    while (last < this.#traffic.expected && this.#sampler.now - since < LOST_AFTER_MS) {
      await Promise.race([audience.changed(), delay(LOST_AFTER_MS, undefined, { ref: false })]);
      if (audience.deliveries > last) since = this.#sampler.now;
      last = audience.deliveries;
    }
    const { deliveries } = audience;
    if (deliveries !== this.#traffic.expected) {
      this.#faults.push(`expected ${this.#traffic.expected} deliveries in all, got ${deliveries}`);
      this.#traffic.settle(deliveries);
    }
  }

  async #executions(): Promise<number> {
    const counts = await Promise.all(this.#servers.map((server) => server.metric('sluice_executions_total')));
    return counts.reduce<number>((sum, count) => sum + (count ?? Number.NaN), 0);
  }

  #usage(): { cpuSeconds: number; residentBytes: number } {
    return this.#servers
      .map(({ usage }) => usage)
      .reduce((sum, usage) => ({
        cpuSeconds: sum.cpuSeconds + usage.cpuSeconds,
        residentBytes: sum.residentBytes + usage.residentBytes,
      }));
  }
}
