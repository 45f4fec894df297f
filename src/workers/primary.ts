import cluster from 'node:cluster';
import { once } from 'node:events';
import { getHeapStatistics } from 'node:v8';
import type { Config } from '../config/settings.ts';
import { messageOf, SluiceError } from '../errors.ts';
import type { Ports } from '../gateway/gateway.ts';
import { beginCount } from '../gateway/reload-counts.ts';
import { graphFolderOf } from '../gateway/graph-folder.ts';
import { GraphWatch } from '../graph/watch.ts';
import { systemClock } from '../support/clock.ts';
import { unlessAborted } from '../support/unless-aborted.ts';
import { withTimeout } from '../support/with-timeout.ts';
import { supervise } from '../support/supervise.ts';
import type { Log } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { adminRoutes } from '../server/admin-routes.ts';
import { HttpServer } from '../server/http-server.ts';
import { Router } from '../server/router.ts';
import { AggregatedMetrics, isOfPrimary, snapshotOf } from './aggregated-metrics.ts';
import { debugForward } from './debug-forward.ts';
import { PodRevocations } from './pod-revocations.ts';
import { sharedHeap } from './heap-share.ts';
import type { PrimaryMessage } from './messages.ts';
import { reloadChecked } from './reload-checked.ts';
import { WorkerProcess } from './worker-process.ts';

/** Time for workers to send their metrics. For a worker that takes longer, the metrics that it sent last are used. */
const COLLECT_MS = 2_000;

/** A worker that sends no message for more than MAX_MISSED_CHECKS checks is killed, as by a liveness probe. */
const CHECK_MS = 5_000;
const MAX_MISSED_CHECKS = 12;

/** Time for a new worker to become ready, in a rolling restart. */
const READY_MS = 60_000;

/** Time for a worker to exit, in addition to the time of draining. */
const END_MS = 15_000;

/** `start` returns this if a signal stops the workers before the first one listens: the process exits meanwhile. */
const NEVER = new Promise<never>(() => undefined);

/** How long unfinished requests to the admin port have when it closes. */
const STOP_GRACE_MS = 2_000;

/**
 * The primary process of several: it starts the workers, which share the port and are each a small pod, and replaces
 * those that end. It accepts connections and passes them to the workers in turn: if the kernel chose among idle
 * workers, some would collect most of the long-lived sockets. It also answers the admin port for all workers.
 */
export class Primary {
  readonly #config: Config;
  readonly #count: number;
  readonly #log: Log;
  readonly #metrics = new Metrics();
  readonly #aggregated = new AggregatedMetrics();
  readonly #admin: HttpServer;
  readonly #revocations: PodRevocations;
  /** The current worker of each slot: it serves, or is starting. Slots are numbered from 1. */
  readonly #slots = new Map<number, WorkerProcess>();
  /**
   * All worker processes: the current ones, their replacements that are starting, and replaced ones that are draining.
   */
  readonly #processes = new Set<WorkerProcess>();
  readonly #stopping = new AbortController();
  #phase: 'draining' | 'stopping' | undefined;
  #supervised: Promise<unknown> = Promise.resolve();
  #hangCheck: NodeJS.Timeout | undefined;
  #watch: GraphWatch | undefined;
  #isReplacing = false;
  #replaceAgain = false;
  #allWereReady = false;

  constructor(config: Config, count: number, log: Log) {
    this.#config = config;
    this.#count = count;
    this.#log = log;
    this.#metrics.collectProcess();
    beginCount(this.#metrics);
    this.#revocations = new PodRevocations(() => [...this.#processes], config.AUTH_REVOKED_SECONDS * 1000);
    const registry = { contentType: this.#metrics.registry.contentType, metrics: () => this.#collect() };
    const routes = [
      ...adminRoutes({ checks: () => this.#notReady(), registry }),
      this.#revocations.route,
      ...debugForward({ workers: count, workerAt: (slot) => this.#slots.get(slot) }),
    ];
    this.#admin = new HttpServer({
      port: config.ADMIN_PORT,
      setting: 'ADMIN_PORT',
      address: config.ADMIN_BIND,
      addressSetting: 'ADMIN_BIND',
      handle: new Router(routes, log.child({ part: 'http' })).handle,
    });
  }

  /**
   * Starts the workers. Resolves when the first one listens; the others are started then.
   *
   * @throws SluiceError WORKER_FAILED if the first worker ends before it listens; it has logged the reason itself
   */
  async start(): Promise<Ports> {
    const folder = graphFolderOf(this.#config);
    const adminPort = await this.#admin.start();
    this.#watch = this.#config.WATCH_GRAPH ? await GraphWatch.of({ folder, clock: systemClock }) : undefined;
    const limitBytes = getHeapStatistics().heap_size_limit;
    const nodeOptions = process.env['NODE_OPTIONS'] ?? '';
    const execArgv = sharedHeap({ execArgv: process.execArgv, nodeOptions, limitBytes }, this.#count);
    cluster.schedulingPolicy = cluster.SCHED_RR;
    // Messages of workers may contain values that JSON does not have, such as the NaN of a gauge.
    cluster.setupPrimary({ execArgv, args: process.argv.slice(2), serialization: 'advanced' });
    process.once('exit', () => this.#processes.forEach((worker) => worker.kill()));
    const first = this.#launch(1);
    this.#slots.set(1, first);
    const end = await first.until('listening');
    if (this.#stopping.signal.aborted) return NEVER;
    if (end !== undefined) throw new SluiceError('WORKER_FAILED', `the first worker ended with ${end}`);
    this.#supervised = Promise.all(this.#slotNumbers().map((slot) => this.#supervise(slot)));
    this.#hangCheck = setInterval(() => this.#checkForHangs(), CHECK_MS).unref();
    this.#watch?.start(() => reloadChecked(folder, () => this.reload(), this.#metrics, this.#log));
    return { port: first.port, adminPort };
  }

  /** Drains all workers at the same time, as a pod does: see `Drain`. */
  drain(): Promise<void> {
    return this.#endAll('draining', { type: 'drain', alone: false });
  }

  stop(): Promise<void> {
    return this.#endAll('stopping', { type: 'stop' });
  }

  /**
   * Has a graph that has changed loaded by a rolling restart, one slot after the other: starts a new worker, waits until
   * it is ready, and drains the old one. A call during a rolling restart makes a second one follow, since workers that
   * were replaced before the call may have loaded the previous graph.
   */
  async reload(): Promise<void> {
    this.#replaceAgain = true;
    if (this.#isReplacing) return;
    this.#isReplacing = true;
    while (this.#replaceAgain) {
      this.#replaceAgain = false;
      const isDone = await this.#replaceEach();
      if (this.#stopping.signal.aborted) break;
      this.#metrics.graphReloads.inc({ outcome: isDone ? 'done' : 'refused' });
      if (isDone) this.#log.info('all workers have been replaced');
    }
    this.#isReplacing = false;
  }

  async #replaceEach(): Promise<boolean> {
    for (const slot of this.#slotNumbers()) if (!(await this.#replace(slot))) return false;
    return true;
  }

  #launch(slot: number): WorkerProcess {
    const worker = new WorkerProcess(slot);
    this.#processes.add(worker);
    this.#metrics.workers.set(this.#processes.size);
    worker.on('metrics', (metrics) => this.#aggregated.update(worker.id, String(slot), metrics));
    worker.on('change', () => {
      this.#allWereReady ||= this.#slotNumbers().every((number) => this.#slots.get(number)?.ready);
    });
    this.#revocations.hand(worker);
    void this.#follow(worker);
    return worker;
  }

  async #follow(worker: WorkerProcess): Promise<void> {
    const { slot, pid } = worker;
    const log = this.#log.child({ worker: slot, pid });
    if ((await worker.until('listening')) === undefined)
      log.info({ adminPort: worker.adminPort }, 'a worker listens');
    const end = await worker.exited;
    log.info({ end }, 'a worker has ended');
    this.#processes.delete(worker);
    this.#metrics.workers.set(this.#processes.size);
    this.#aggregated.end(worker.id);
  }

  #supervise(slot: number): Promise<void> {
    return supervise({
      run: () => this.#runSlot(slot),
      onCrash: (error, wait) => {
        this.#metrics.workerRestarts.inc();
        const fields = { worker: slot, end: messageOf(error), waitMs: Math.round(wait) };
        this.#log.error(fields, 'a worker ended by itself; starting another');
      },
      clock: systemClock,
      stopping: this.#stopping.signal,
    });
  }

  /**
   * Keeps a worker in the slot. Resolves when the current one has ended by itself; a replaced worker does not count.
   */
  async #runSlot(slot: number): Promise<Error> {
    for (;;) {
      const worker = this.#slots.get(slot) ?? this.#launch(slot);
      this.#slots.set(slot, worker);
      const end = await Promise.race([worker.exited, once(worker, 'replaced').then(() => undefined)]);
      if (end === undefined || this.#slots.get(slot) !== worker) continue;
      this.#slots.delete(slot);
      return new Error(end);
    }
  }

  /** @returns false if the rolling restart can't go on */
  async #replace(slot: number): Promise<boolean> {
    if (this.#stopping.signal.aborted) return false;
    const fresh = this.#launch(slot);
    const { signal } = this.#stopping;
    const ready = withTimeout(fresh.until('ready'), READY_MS, () => `no readiness in ${READY_MS} ms`);
    const failure = await unlessAborted(ready, signal);
    if (signal.aborted) return false;
    if (failure !== undefined) {
      const fields = { worker: slot, failure, notReady: fresh.notReady };
      this.#log.error(fields, 'a new worker did not become ready; the rolling restart has ended');
      fresh.kill();
      return false;
    }
    const old = this.#slots.get(slot);
    this.#slots.set(slot, fresh);
    old?.emit('replaced');
    if (old !== undefined) await this.#end(old, { type: 'drain', alone: true });
    return true;
  }

  async #endAll(phase: 'draining' | 'stopping', message: PrimaryMessage): Promise<void> {
    this.#phase = phase;
    this.#stopping.abort();
    clearInterval(this.#hangCheck);
    this.#watch?.stop();
    const ends = await Promise.all([...this.#processes].map((worker) => this.#end(worker, message)));
    await this.#supervised;
    this.#phase = 'stopping';
    await this.#admin.stop(AbortSignal.timeout(STOP_GRACE_MS));
    const bad = ends.filter((end) => end !== undefined);
    if (bad.length > 0) throw new Error(`workers ended with ${bad.join(', ')}`);
  }

  /**
   * Ends a worker. A worker that does not listen yet is killed at once: it has no connections, and may not receive
   * messages yet. A worker that takes much longer than draining may take is killed, too.
   *
   * @returns the exit code or signal; undefined if the worker exited with 0, or was killed before it listened
   */
  async #end(worker: WorkerProcess, message: PrimaryMessage): Promise<string | undefined> {
    if (!worker.listening) {
      worker.kill();
      await worker.exited;
      return undefined;
    }
    const { DRAIN_DELAY_SECONDS, DRAIN_SECONDS } = this.#config;
    const timeoutMs = (DRAIN_DELAY_SECONDS + DRAIN_SECONDS) * 1000 + END_MS;
    worker.send(message);
    const end = await withTimeout<string | undefined>(worker.exited, timeoutMs, () => undefined);
    if (end !== undefined) return end === 'exit code 0' ? undefined : end;
    this.#log.error({ worker: worker.slot, pid: worker.pid }, 'a worker did not end in time; it is killed');
    worker.kill();
    return worker.exited;
  }

  /** Counts checks instead of comparing times, since this process itself may have been suspended. */
  #checkForHangs(): void {
    for (const worker of this.#processes) {
      worker.missedChecks += 1;
      if (worker.missedChecks <= MAX_MISSED_CHECKS) continue;
      this.#log.error({ worker: worker.slot, pid: worker.pid }, 'a worker hangs; it is killed');
      worker.kill();
    }
  }

  /**
   * The pod is ready when all workers have been ready once. From then on one ready worker is enough: workers that ended
   * are replaced.
   */
  #notReady(): string[] {
    if (this.#phase !== undefined) return [this.#phase];
    const workers = this.#slotNumbers().map((slot) => this.#slots.get(slot));
    if (this.#allWereReady && workers.some((worker) => worker?.ready)) return [];
    return workers.flatMap((worker, index) =>
      worker?.ready ? [] : [`worker ${index + 1}: ${worker?.notReady.join(', ') ?? 'ended'}`],
    );
  }

  async #collect(): Promise<string> {
    const signal = AbortSignal.timeout(COLLECT_MS);
    await Promise.all([...this.#processes].map((worker) => worker.collect(signal)));
    const own = await snapshotOf(this.#metrics.registry);
    this.#aggregated.update(0, 'primary', own.filter(isOfPrimary));
    return this.#aggregated.text();
  }

  #slotNumbers(): number[] {
    return Array.from({ length: this.#count }, (_, index) => index + 1);
  }
}
