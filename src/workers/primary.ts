import cluster from 'node:cluster';
import { once } from 'node:events';
import { getHeapStatistics } from 'node:v8';
import type { Config } from '../config.ts';
import { messageOf, SluiceError } from '../errors.ts';
import type { Ports } from '../gateway.ts';
import { systemClock } from '../support/clock.ts';
import { unlessAborted } from '../support/unless-aborted.ts';
import { withTimeout } from '../support/with-timeout.ts';
import { supervise } from '../support/supervise.ts';
import type { Log } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { adminRoutes } from '../server/admin-routes.ts';
import { HttpServer } from '../server/http-server.ts';
import { Router } from '../server/router.ts';
import { AddedMetrics, snapshotOf } from './added-metrics.ts';
import { debugForward } from './debug-forward.ts';
import { sharedHeap } from './heap-share.ts';
import type { MetricSnapshot, PrimaryMessage } from './messages.ts';
import { WorkerProcess } from './worker-process.ts';

/** A worker that does not answer within this is counted by what it said last. */
const COLLECT_MS = 2_000;

/** A worker that has been silent for so many looks hangs, and is ended: each is what a liveness probe is to a pod. */
const LOOK_MS = 5_000;
const MOST_SILENT_LOOKS = 12;

/** Time to become ready, in a rolling restart. */
const READY_MS = 60_000;

/** Time to end, beyond what draining takes. */
const END_MS = 15_000;

/** For whoever waits for a start that a signal has overtaken: the process ends first. */
const NEVER = new Promise<never>(() => undefined);

/** How long requests in hand have when the admin port closes. */
const STOP_GRACE_MS = 2_000;

/**
 * Several processes that share the port, each a pod in small, and the one that starts them. That one, the primary,
 * accepts connections and hands them to the workers in turn, since sockets live long and a kernel that wakes whoever is
 * idle would fill some workers and not others. It replaces workers that end, and answers the admin port for all.
 */
export class Primary {
  readonly #config: Config;
  readonly #count: number;
  readonly #log: Log;
  readonly #metrics = new Metrics();
  readonly #added = new AddedMetrics();
  readonly #admin: HttpServer;
  /** Whoever serves, or is to serve, in each place. */
  readonly #places = new Map<number, WorkerProcess>();
  /** Those, and whoever is on the way to such a place or from it. */
  readonly #processes = new Set<WorkerProcess>();
  readonly #stopping = new AbortController();
  #phase: 'draining' | 'stopping' | undefined;
  #keeping: Promise<unknown> = Promise.resolve();
  #looking: NodeJS.Timeout | undefined;
  #replacing = false;
  #replaceAgain = false;
  #allWereReady = false;

  constructor(config: Config, count: number, log: Log) {
    this.#config = config;
    this.#count = count;
    this.#log = log;
    this.#metrics.collectProcess();
    const registry = { contentType: this.#metrics.registry.contentType, metrics: () => this.#collect() };
    const routes = [
      ...adminRoutes({ checks: () => this.#notReady(), registry }),
      debugForward({ workers: count, adminPort: (place) => this.#places.get(place)?.adminPort }),
    ];
    this.#admin = new HttpServer({
      port: config.ADMIN_PORT,
      setting: 'ADMIN_PORT',
      handle: new Router(routes, log.child({ part: 'http' })).handle,
    });
  }

  /**
   * Resolves when the first worker listens; the others follow.
   *
   * @throws SluiceError if the first one can't start, which has said why itself
   */
  async start(): Promise<Ports> {
    const adminPort = await this.#admin.start();
    const limitBytes = getHeapStatistics().heap_size_limit;
    const nodeOptions = process.env['NODE_OPTIONS'] ?? '';
    const execArgv = sharedHeap({ execArgv: process.execArgv, nodeOptions, limitBytes }, this.#count);
    cluster.schedulingPolicy = cluster.SCHED_RR;
    // What JSON has no words for, as the NaN of a gauge, must survive the way to here.
    cluster.setupPrimary({ execArgv, args: process.argv.slice(2), serialization: 'advanced' });
    process.once('exit', () => this.#processes.forEach((worker) => worker.kill()));
    const first = this.#launch(1);
    this.#places.set(1, first);
    const end = await first.until('listening');
    if (this.#stopping.signal.aborted) return NEVER;
    if (end !== undefined) throw new SluiceError('WORKER_FAILED', `the first worker ended with ${end}`);
    this.#keeping = Promise.all(this.#numbers().map((place) => this.#keep(place)));
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref();
    return { port: first.port, adminPort };
  }

  /** All at once, as a pod does. See `Drain`. */
  drain(): Promise<void> {
    return this.#end('draining', { type: 'drain', alone: false });
  }

  stop(): Promise<void> {
    return this.#end('stopping', { type: 'stop' });
  }

  /**
   * A rolling restart: one after the other is drained, each once another one serves in its place. Asked for during one,
   * another one follows: some of the new workers may have started before what has changed since.
   */
  async replaceAll(): Promise<void> {
    this.#replaceAgain = true;
    if (this.#replacing) return;
    this.#replacing = true;
    while (this.#replaceAgain) {
      this.#replaceAgain = false;
      if (await this.#replaceEach()) this.#log.info('all workers have been replaced');
    }
    this.#replacing = false;
  }

  async #replaceEach(): Promise<boolean> {
    for (const place of this.#numbers()) if (!(await this.#replace(place))) return false;
    return true;
  }

  #launch(place: number): WorkerProcess {
    const worker = new WorkerProcess(place);
    this.#processes.add(worker);
    this.#metrics.workers.set(this.#processes.size);
    worker.on('metrics', (metrics) => this.#added.update(worker.id, String(place), metrics));
    worker.on('change', () => {
      this.#allWereReady ||= this.#numbers().every((number) => this.#places.get(number)?.ready);
    });
    void this.#follow(worker);
    return worker;
  }

  async #follow(worker: WorkerProcess): Promise<void> {
    const { place, pid } = worker;
    const log = this.#log.child({ worker: place, pid });
    if ((await worker.until('listening')) === undefined)
      log.info({ adminPort: worker.adminPort }, 'a worker listens');
    const end = await worker.exited;
    log.info({ end }, 'a worker has ended');
    this.#processes.delete(worker);
    this.#metrics.workers.set(this.#processes.size);
    this.#added.depart(worker.id);
  }

  #keep(place: number): Promise<void> {
    return supervise({
      run: () => this.#live(place),
      onCrash: (error, wait) => {
        this.#metrics.workerRestarts.inc();
        const fields = { worker: place, end: messageOf(error), waitMs: Math.round(wait) };
        this.#log.error(fields, 'a worker ended by itself; starting another');
      },
      clock: systemClock,
      stopping: this.#stopping.signal,
    });
  }

  /** Resolves when nobody is in that place any more; somebody may have been replaced meanwhile. */
  async #live(place: number): Promise<Error> {
    for (;;) {
      const worker = this.#places.get(place) ?? this.#launch(place);
      this.#places.set(place, worker);
      const end = await Promise.race([worker.exited, once(worker, 'relieved').then(() => undefined)]);
      if (end === undefined || this.#places.get(place) !== worker) continue;
      this.#places.delete(place);
      return new Error(end);
    }
  }

  /** @returns false if the rolling restart can't go on */
  async #replace(place: number): Promise<boolean> {
    if (this.#stopping.signal.aborted) return false;
    const fresh = this.#launch(place);
    const { signal } = this.#stopping;
    const ready = withTimeout(fresh.until('ready'), READY_MS, () => `no readiness in ${READY_MS} ms`);
    const failure = await unlessAborted(ready, signal);
    if (signal.aborted) return false;
    if (failure !== undefined) {
      const fields = { worker: place, failure, notReady: fresh.notReady };
      this.#log.error(fields, 'a new worker does not serve; the workers stay as they are');
      fresh.kill();
      return false;
    }
    const old = this.#places.get(place);
    this.#places.set(place, fresh);
    old?.emit('relieved');
    if (old !== undefined) await this.#ended(old, { type: 'drain', alone: true });
    return true;
  }

  async #end(phase: 'draining' | 'stopping', order: PrimaryMessage): Promise<void> {
    this.#phase = phase;
    this.#stopping.abort();
    clearInterval(this.#looking);
    const ends = await Promise.all([...this.#processes].map((worker) => this.#ended(worker, order)));
    await this.#keeping;
    this.#phase = 'stopping';
    await this.#admin.stop(AbortSignal.timeout(STOP_GRACE_MS));
    const bad = ends.filter((end) => end !== undefined);
    if (bad.length > 0) throw new Error(`workers ended with ${bad.join(', ')}`);
  }

  /**
   * Has it end, and kills it if that takes much longer than draining may, or if it does not listen yet: then it has
   * nobody to take leave of, and hears no orders.
   *
   * @returns how it ended, if not as it should
   */
  async #ended(worker: WorkerProcess, order: PrimaryMessage): Promise<string | undefined> {
    if (!worker.listening) {
      worker.kill();
      await worker.exited;
      return undefined;
    }
    const { DRAIN_DELAY_SECONDS, DRAIN_SECONDS } = this.#config;
    const patience = (DRAIN_DELAY_SECONDS + DRAIN_SECONDS) * 1000 + END_MS;
    worker.tell(order);
    const end = await withTimeout<string | undefined>(worker.exited, patience, () => undefined);
    if (end !== undefined) return end === 'exit code 0' ? undefined : end;
    this.#log.error({ worker: worker.place, pid: worker.pid }, 'a worker does not end; it is killed');
    worker.kill();
    return worker.exited;
  }

  /** Not by the clock: this process may have been asleep itself. */
  #look(): void {
    for (const worker of this.#processes) {
      worker.silentLooks += 1;
      if (worker.silentLooks <= MOST_SILENT_LOOKS) continue;
      this.#log.error({ worker: worker.place, pid: worker.pid }, 'a worker hangs; it is killed');
      worker.kill();
    }
  }

  /** All have to be ready once; from then on one is enough, since the others are on their way back. */
  #notReady(): string[] {
    if (this.#phase !== undefined) return [this.#phase];
    const workers = this.#numbers().map((place) => this.#places.get(place));
    if (this.#allWereReady && workers.some((worker) => worker?.ready)) return [];
    return workers.flatMap((worker, index) =>
      worker?.ready ? [] : [`worker ${index + 1}: ${worker?.notReady.join(', ') ?? 'ended'}`],
    );
  }

  async #collect(): Promise<string> {
    const signal = AbortSignal.timeout(COLLECT_MS);
    await Promise.all([...this.#processes].map((worker) => worker.collect(signal)));
    const own = await snapshotOf(this.#metrics.registry);
    this.#added.update(0, 'primary', own.filter(isOfPrimary));
    return this.#added.text();
  }

  #numbers(): number[] {
    return Array.from({ length: this.#count }, (_, index) => index + 1);
  }
}

/** It serves nobody: what it says of its own work would only blur what the workers say of theirs. */
function isOfPrimary({ name, aggregator }: MetricSnapshot): boolean {
  return !name.startsWith('sluice_') || aggregator === 'sum';
}
