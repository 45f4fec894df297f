import path from 'node:path';
import type { Registry } from 'prom-client';
import { claimedNames } from '../auth/claims.ts';
import type { Revocation } from '../auth/revocations.ts';
import type { Config } from '../config/settings.ts';
import { EventTrace, type EventTracer } from '../events/trace.ts';
import { formatDiagnostic } from '../graph/diagnostic.ts';
import { Explainer } from '../explain/explainer.ts';
import { RecentlyArrived } from '../explain/recently-arrived.ts';
import { RecentlyConsumed } from '../explain/recently-consumed.ts';
import { loadGraph, type LoadedGraph } from '../graph/loader/load-graph.ts';
import { GraphWatch } from '../graph/watch.ts';
import { systemClock, systemTimers } from '../support/clock.ts';
import { withTimeout } from '../support/with-timeout.ts';
import type { RunningTracing } from '../tracing/start-tracing.ts';
import type { Hub } from '../hub/hub.ts';
import { createIngest } from '../ingest/ingest.ts';
import type { Log } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { PressureLevel } from '../pressure/pressure-level.ts';
import { Drain } from '../server/drain.ts';
import type { ReadinessChecks } from '../server/health.ts';
import type { Basics } from './basics.ts';
import { createAdminServer } from './admin-server.ts';
import { bytesOfRecentEvents, createBudget } from './create-budget.ts';
import { createBus } from './create-bus.ts';
import { createPressure } from './pressure.ts';
import { createPublicSide } from './public-side.ts';
import { BUNDLED_FOLDER, graphFolderOf } from './graph-folder.ts';
import { GraphInForce } from './graph-in-force.ts';
import { Reloads } from './reloads.ts';
import { Revoking } from './revoking.ts';
import { GraphMaker } from './running-graph.ts';
import { createKeys, viewerProperties } from './tokens.ts';

const SIMULATOR = path.join(BUNDLED_FOLDER, 'simulator.js');

/** Time for unfinished requests, and for sockets that got a close frame, when the gateway stops. */
const STOP_GRACE_MS = 2_000;

/** A part of the gateway that is started and stopped. */
interface Part {
  start(): unknown;
  stop(): unknown;
}

interface Inside {
  readonly parts: readonly Part[];
  readonly ports: () => Ports;
  readonly drain: Drain;
  readonly reloads: Reloads;
  readonly registry: Registry;
  readonly notReady: ReadinessChecks;
  readonly inForce: GraphInForce;
  readonly hub: Hub;
  readonly revoking: Revoking;
}

interface GatewayOptions {
  /** One of several workers: their primary serves the admin port. */
  readonly worker?: boolean;
  /** The number of the pod's processes, which share its limits. */
  readonly processes?: number;
  readonly trace?: EventTracer;
  /** Called when a graph has replaced another one. */
  readonly onReload?: (graph: LoadedGraph, before: LoadedGraph) => void;
  /** Stopped with the gateway. Undefined: no spans are recorded. */
  readonly tracing?: RunningTracing | undefined;
}

export interface Ports {
  readonly port: number;
  readonly adminPort: number;
}

/** One pod. This file is where the parts are put together. They start in order and stop in reverse. */
export class Gateway {
  readonly #inside: Inside;
  readonly #running: Part[] = [];

  private constructor(inside: Inside) {
    this.#inside = inside;
  }

  /**
   * @throws SluiceError BAD_GRAPH or BAD_SETTINGS
   */
  static async create(config: Config, log: Log, options: GatewayOptions = {}): Promise<Gateway> {
    const { worker = false, processes = 1, tracing: running } = options;
    const trace = new EventTrace();
    if (options.trace !== undefined) trace.listen(options.trace);
    const tracing = running?.tracing;
    const folder = graphFolderOf(config);
    const isBundled = folder === BUNDLED_FOLDER;
    const watches = config.WATCH_GRAPH && !worker;
    const watch = watches ? await GraphWatch.of({ folder, clock: systemClock }) : undefined;
    const graph = await loadGraph(folder, { claims: claimedNames(config) });
    // Warnings of the bundled graph are known, and would only confuse users at their first start.
    if (!isBundled) for (const warning of graph.warnings) log.warn(formatDiagnostic(warning));
    const metrics = new Metrics(tracing !== undefined);
    metrics.collectProcess();
    const pressure = new PressureLevel();
    const budget = createBudget(metrics);
    const basics: Basics = { config, processes, pressure, budget, metrics, log, trace, tracing };
    const maker = new GraphMaker(basics);
    const inForce = new GraphInForce(maker.make(graph));
    const bus = await createBus(basics, graph);
    const keys = createKeys(basics);
    const revoking = new Revoking(basics, bus, () => viewerProperties(basics, keys, inForce.current.graph));
    const consumed = new RecentlyConsumed(trace, bytesOfRecentEvents(), Date.now);
    const arrived = new RecentlyArrived(bytesOfRecentEvents(), Date.now);
    const ingest = await createIngest({
      settings: config,
      topics: graph.topics,
      publisher: bus,
      records: budget.records,
      mayNotJoin: () => bus.notReady(),
      busId: (proposed) => bus.id(proposed),
      simulator: isBundled ? SIMULATOR : undefined,
      hold: pressure.pause,
      metrics,
      log: log.child({ part: 'ingest' }),
      trace: consumed,
      tracing,
    });
    if (ingest.kafka !== undefined) bus.readMissedFrom(ingest.kafka.consumption);
    const { connections, publicServer, relocation, refused, inspectable, reload } = await createPublicSide(
      basics,
      bus,
      ingest,
      { maker, inForce },
      keys,
      revoking,
      arrived,
    );
    const monitor = createPressure(basics, connections);
    const { leaveGroup } = ingest;
    const drain = new Drain({
      settings: config,
      clock: systemClock,
      log,
      publicServer,
      connections,
      leaveGroup,
    });
    const notReady = (): string[] =>
      [drain, bus, relocation, ingest, keys, keys && revoking, pressure]
        .map((part) => part?.notReady())
        .filter((reason) => reason !== undefined);
    const { inspector } = inspectable.hub;
    const explainer = new Explainer({
      trace,
      connectionOf: (id) => connections.find(id),
      subscriptionsOf: (connection) => inspector.groupsOf(connection),
      refusedOf: (connection) => refused.of(connection),
      consumed,
      arrived,
      topics: () => inForce.current.graph.topics,
      timers: systemTimers,
      now: Date.now,
    });
    const adminServer = await createAdminServer(
      basics,
      notReady,
      { ...inspectable, hub: inspector, explainer, pressure: monitor },
      revoking.revoke,
      worker,
    );
    const reloadAndTell = async (): Promise<object> => {
      const before = inForce.current.graph;
      const done = await reload();
      options.onReload?.(inForce.current.graph, before);
      return done;
    };
    const reloads = new Reloads({ reload: reloadAndTell, metrics, log });
    let ports: Ports = { port: 0, adminPort: 0 };
    // The admin port first, so that Kubernetes can probe the starting pod; the sources of events last.
    const parts: Part[] = [
      {
        start: () => undefined,
        stop: () => running && withTimeout(running.stop(), STOP_GRACE_MS, () => undefined),
      },
      {
        start: async () => (ports = { ...ports, adminPort: await adminServer.start() }),
        stop: () => adminServer.stop(AbortSignal.timeout(STOP_GRACE_MS)),
      },
      bus,
      inForce,
      ...(keys === undefined ? [] : [keys]),
      { start: () => connections.start(), stop: () => undefined },
      monitor,
      {
        start: async () => (ports = { ...ports, port: await publicServer.start() }),
        // Stops both together, as responses with results of subscriptions do not end by themselves.
        stop: () =>
          Promise.all([
            publicServer.stop(AbortSignal.timeout(STOP_GRACE_MS)),
            connections.stop(STOP_GRACE_MS),
          ]),
      },
      ...ingest.parts,
      { start: () => watch?.start(() => reloads.request()), stop: () => watch?.stop() },
    ];
    const { registry } = metrics;
    const { hub } = inspectable;
    return new Gateway({
      parts,
      ports: () => ports,
      drain,
      reloads,
      registry,
      notReady,
      inForce,
      hub,
      revoking,
    });
  }

  /** The state that a worker reports to its primary. */
  get status(): Pick<Inside, 'registry' | 'notReady'> {
    return this.#inside;
  }

  /** The graph in force. */
  get graph(): LoadedGraph {
    return this.#inside.inForce.current.graph;
  }

  /** See `Hub.afterWaiting`. */
  afterWaiting(callback: () => void): void {
    this.#inside.hub.afterWaiting(callback);
  }

  /** Viewers have been revoked: this worker's primary reports it. */
  revoked(revocations: readonly Revocation[]): void {
    this.#inside.revoking.hear(revocations);
  }

  /** @throws SluiceError BAD_SETTINGS if a port is not available; the parts that have been started are then stopped */
  async start(): Promise<Ports> {
    try {
      for (const part of this.#inside.parts) {
        this.#running.push(part);
        await part.start();
      }
    } catch (error) {
      await this.stop().catch(() => undefined);
      throw error;
    }
    return this.#inside.ports();
  }

  /** Loads the graph again. See `Reloads`. */
  reload(): Promise<void> {
    return this.#inside.reloads.request();
  }

  /** Closes all connections staggered, then stops. See `Drain`. */
  async drain(how?: { alone: boolean }): Promise<void> {
    await this.#inside.drain.run(how);
    await this.stop();
  }

  /** @throws AggregateError of the errors of parts that could not be stopped; all other parts are stopped */
  async stop(): Promise<void> {
    this.#inside.drain.stopping();
    const errors: unknown[] = [];
    for (let part = this.#running.pop(); part !== undefined; part = this.#running.pop()) {
      try {
        await part.stop();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'parts of the gateway could not be stopped');
  }
}
