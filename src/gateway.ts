import path from 'node:path';
import type { Registry } from 'prom-client';
import type { Bus } from './bus/bus.ts';
import { MemoryBus } from './bus/memory-bus.ts';
import { ioredisBus } from './bus/redis/ioredis-bus.ts';
import { readSettingFile, type Config } from './config.ts';
import { Authenticator } from './context/authenticator.ts';
import { responseKeys } from './backends/response-keys.ts';
import { Backends } from './backends/backends.ts';
import { Contexts } from './context/event-scope.ts';
import { Executor } from './executor/executor.ts';
import { formatDiagnostic } from './graph/diagnostic.ts';
import { loadGraph, type LoadedGraph } from './graph/loader/load-graph.ts';
import { Limiter } from './support/limiter.ts';
import { BoundedLabels } from './support/bounded-labels.ts';
import { Flusher } from './transports/websocket/flusher.ts';
import { Hub } from './hub/hub.ts';
import { systemClock } from './support/clock.ts';
import { createIngest, type Ingest } from './ingest/ingest.ts';
import type { Log } from './log.ts';
import { Metrics } from './metrics.ts';
import { adminRoutes } from './server/admin-routes.ts';
import { memoryOfProcess } from './server/debug/heap-snapshot.ts';
import { debugRoutes, type DebugOptions } from './server/debug/routes.ts';
import { Drain } from './server/drain.ts';
import { Graphiql } from './server/graphiql/graphiql.ts';
import { GRAPHQL_PATH } from './server/graphql-route.ts';
import type { ReadinessChecks } from './server/health.ts';
import { HttpServer } from './server/http-server.ts';
import { OriginCheck } from './server/origin-check.ts';
import { publicRoutes } from './server/public-routes.ts';
import { Router } from './server/router.ts';
import { Upgrade } from './server/upgrade.ts';
import { ConnectionMaxAge } from './transports/websocket/max-age.ts';
import { PostTransport } from './transports/http/post.ts';
import { WebSocketTransport } from './transports/websocket/transport.ts';

/** The default of `GRAPH`. This graph is compiled with the gateway. */
const BUNDLED_GRAPH = 'examples/auction';
const BUNDLED_FOLDER = path.join(import.meta.dirname, '..', BUNDLED_GRAPH);
const SIMULATOR = path.join(BUNDLED_FOLDER, 'simulator.js');

/** How long unfinished requests, and sockets on which a close has been sent, have when the gateway stops. */
const STOP_GRACE_MS = 2_000;

/** A part of the gateway that is started and stopped. */
interface Part {
  start(): unknown;
  stop(): unknown;
}

/** What most parts need. */
interface Basics {
  readonly config: Config;
  readonly processes: number;
  readonly graph: LoadedGraph;
  readonly metrics: Metrics;
  readonly log: Log;
}

interface Inside {
  readonly parts: readonly Part[];
  readonly ports: () => Ports;
  readonly drain: Drain;
  readonly registry: Registry;
  readonly notReady: ReadinessChecks;
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
   * @param worker true for one worker of several, whose primary answers the admin port
   * @param processes of the pod, which share its limits
   * @throws SluiceError BAD_GRAPH or BAD_SETTINGS
   */
  static async create(config: Config, log: Log, { worker = false, processes = 1 } = {}): Promise<Gateway> {
    const isBundled = config.GRAPH === BUNDLED_GRAPH;
    const graph = await loadGraph(isBundled ? BUNDLED_FOLDER : config.GRAPH);
    // Warnings of the bundled graph are known, and would only puzzle users at their first start.
    if (!isBundled) for (const warning of graph.warnings) log.warn(formatDiagnostic(warning));
    const metrics = new Metrics();
    metrics.collectProcess();
    const basics: Basics = { config, processes, graph, metrics, log };
    const bus = createBus(basics);
    const backends = new Backends(graph.definition.backends ?? {}, {
      metrics,
      log: log.child({ part: 'backends' }),
      clock: systemClock,
      transformKeys: responseKeys(),
    });
    const ingest = await createIngest({
      settings: config,
      topics: graph.topics,
      publisher: bus,
      simulator: isBundled ? SIMULATOR : undefined,
      metrics,
      log: log.child({ part: 'ingest' }),
    });
    const { sockets, publicServer, inspectable } = await createPublicSide(basics, bus, ingest, backends);
    const { leaveGroup } = ingest;
    const drain = new Drain({ settings: config, clock: systemClock, log, publicServer, sockets, leaveGroup });
    const notReady = (): string[] =>
      [drain.notReady(), bus.notReady(), ingest.notReady()].filter((reason) => reason !== undefined);
    const adminServer = await createAdminServer(basics, notReady, inspectable, worker);
    let ports: Ports = { port: 0, adminPort: 0 };
    // The admin port first, so that Kubernetes can probe the starting pod; the sources of events last.
    const parts: Part[] = [
      {
        start: async () => (ports = { ...ports, adminPort: await adminServer.start() }),
        stop: () => adminServer.stop(AbortSignal.timeout(STOP_GRACE_MS)),
      },
      bus,
      { start: () => undefined, stop: () => backends.close() },
      { start: () => sockets.start(), stop: () => sockets.stop(STOP_GRACE_MS) },
      {
        start: async () => (ports = { ...ports, port: await publicServer.start() }),
        stop: () => publicServer.stop(AbortSignal.timeout(STOP_GRACE_MS)),
      },
      ...ingest.parts,
    ];
    return new Gateway({ parts, ports: () => ports, drain, registry: metrics.registry, notReady });
  }

  /** The state that a worker reports to its primary. */
  get status(): Pick<Inside, 'registry' | 'notReady'> {
    return this.#inside;
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

function createBus({ config, metrics, log }: Basics): Bus {
  const common = { lingerMs: config.CHANNEL_LINGER_MS, metrics, log: log.child({ part: 'bus' }) };
  if (config.REDIS_URL === undefined) return new MemoryBus(common);
  const ca = config.REDIS_CA === undefined ? undefined : readSettingFile('REDIS_CA', config.REDIS_CA);
  return ioredisBus({
    ...common,
    url: config.REDIS_URL,
    ca,
    prefix: config.REDIS_PREFIX,
    countsSubscribers: config.SKIP_UNSUBSCRIBED,
  });
}

async function createPublicSide(
  { config, processes, graph, metrics, log }: Basics,
  bus: Bus,
  ingest: Ingest,
  backends: Backends,
) {
  const { schema, topics, definition } = graph;
  const contexts = new Contexts(definition, backends, Date.now);
  const authenticator = new Authenticator(
    definition,
    config.EXECUTE_TIMEOUT_MS,
    log.child({ part: 'authenticate' }),
  );
  const executor = new Executor({ schema, cacheSize: config.DOCUMENT_CACHE_SIZE, log });
  const flusher = new Flusher(Date.now, (delay, age) => metrics.observeEvent(delay, age));
  const hub = new Hub({
    graph,
    bus,
    executor,
    contexts,
    budget: flusher,
    limiter: new Limiter(config.EXECUTE_CONCURRENCY),
    paths: new BoundedLabels(),
    metrics,
    log: log.child({ part: 'hub' }),
    maxWaiting: config.MAX_WAITING_EVENTS,
    timeoutMs: config.EXECUTE_TIMEOUT_MS,
    channelPrefix: config.REDIS_PREFIX,
    maxChannels: config.MAX_CHANNELS,
    gapPolicy: config.ON_GAP,
  });
  const sockets = new WebSocketTransport({
    schema,
    executor,
    hub,
    authenticator,
    contexts,
    flusher,
    metrics,
    log: log.child({ part: 'websocket' }),
    maxPayloadBytes: config.MAX_PAYLOAD_BYTES,
    bufferBytes: config.SOCKET_BUFFER_BYTES,
    initTimeoutMs: config.INIT_TIMEOUT_MS,
    pingSeconds: config.PING_SECONDS,
    maxAge: new ConnectionMaxAge(config.CONNECTION_MAX_AGE_SECONDS),
    clock: systemClock,
    maxOperations: config.MAX_OPERATIONS,
    gapClosesPerSecond: config.GAP_CLOSE_PER_SECOND / processes,
  });
  const httpLog = log.child({ part: 'http' });
  const originCheck = new OriginCheck(config.ORIGINS);
  const { accept } = ingest;
  const routes = publicRoutes({
    post: new PostTransport(executor, authenticator, contexts),
    originCheck,
    maxPayloadBytes: config.MAX_PAYLOAD_BYTES,
    graphiql: config.GRAPHIQL ? await Graphiql.load(schema) : undefined,
    events: accept && { topics, accept, fromAnywhere: config.EVENTS_FROM_ANYWHERE },
  });
  const publicServer = new HttpServer({
    port: config.PORT,
    setting: 'PORT',
    handle: new Router(routes, httpLog).handle,
    upgrade: new Upgrade({
      path: GRAPHQL_PATH,
      originCheck,
      accept: (request, socket, head) => sockets.accept(request, socket, head),
      log: httpLog,
    }).handle,
  });
  return { sockets, publicServer, inspectable: { hub, sockets, kafka: ingest.kafka } };
}

async function createAdminServer(
  { config, metrics, log }: Basics,
  checks: ReadinessChecks,
  inspectable: DebugOptions['inspectable'],
  worker: boolean,
): Promise<HttpServer> {
  const httpLog = log.child({ part: 'http' });
  const debug = await debugRoutes({ inspectable, memory: memoryOfProcess, log: httpLog });
  const routes = [...adminRoutes({ checks, registry: metrics.registry }), ...debug];
  return new HttpServer({
    port: worker ? 0 : config.ADMIN_PORT,
    local: worker,
    setting: 'ADMIN_PORT',
    handle: new Router(routes, httpLog).handle,
  });
}
