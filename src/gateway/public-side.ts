import { claimedNames } from '../auth/claims.ts';
import type { Keys } from '../auth/keys.ts';
import type { Bus } from '../bus/bus.ts';
import { BoundedLabels } from '../support/bounded-labels.ts';
import { Flusher } from '../transports/delivery/flusher.ts';
import { Hub } from '../hub/hub.ts';
import type { HubGraph } from '../hub/hub-options.ts';
import { topicNamed } from '../graph/topics.ts';
import type { LoadedGraph } from '../graph/loader/load-graph.ts';
import { systemClock } from '../support/clock.ts';
import { Turns } from '../support/turns.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { RecentlyArrived } from '../explain/recently-arrived.ts';
import { Graphiql } from '../server/graphiql/graphiql.ts';
import { GRAPHQL_PATH } from '../server/graphql-route.ts';
import { HostCheck } from '../server/host-check.ts';
import { HttpServer } from '../server/http-server.ts';
import { OriginCheck } from '../server/origin-check.ts';
import { OriginRefusals } from '../server/origin-refusals.ts';
import { publicRoutes } from '../server/public-routes.ts';
import { Relocation } from '../server/relocation.ts';
import { Router } from '../server/router.ts';
import { StreamResponder } from '../server/stream-responder.ts';
import { Upgrade } from '../server/upgrade.ts';
import { Connections } from '../transports/connections/connections.ts';
import { RefusedSubscriptions } from '../transports/connections/refused-subscriptions.ts';
import { Subscriptions } from '../transports/connections/subscriptions.ts';
import { ConnectionMaxAge } from '../transports/connections/max-age.ts';
import { OperationCaps, type OperationLimits } from '../transports/connections/operation-caps.ts';
import { MessageRate } from '../transports/websocket/message-rate.ts';
import { Streams } from '../transports/http/streams.ts';
import { loggedIds } from '../tracing/traceparent.ts';
import { RequestBytes } from '../transports/http/request-bytes.ts';
import { HttpTransport } from '../transports/http/transport.ts';
import { WaitingRequests } from '../transports/http/waiting-requests.ts';
import { WebSocketTransport } from '../transports/websocket/transport.ts';
import type { Basics } from './basics.ts';
import { createAdmission } from './create-admission.ts';
import { bytesOfDocuments } from './create-budget.ts';
import type { GraphInForce } from './graph-in-force.ts';
import { shareOf } from './pod-share.ts';
import { replaceGraph } from './replace-graph.ts';
import type { Revoking } from './revoking.ts';
import type { GraphMaker, RunningGraph } from './running-graph.ts';
import { createTokenAuthenticator, sessionsOptions } from './tokens.ts';
import type { Config } from '../config/settings.ts';
import { Certificate } from '../server/tls/certificate.ts';

/** The graph in force, and the maker of its replacements. */
interface Graphs {
  readonly maker: GraphMaker;
  readonly inForce: GraphInForce;
}

/** Creates what browsers reach: sockets, requests and pages, and the parts that execute for them. */
export async function createPublicSide(
  basics: Basics,
  bus: Bus,
  ingest: Ingest,
  { maker, inForce }: Graphs,
  keys: Keys | undefined,
  revoking: Revoking,
  arrivals: RecentlyArrived,
) {
  const { config, processes, pressure, budget: bytes, metrics, log, trace, tracing } = basics;
  const tokens = keys && createTokenAuthenticator(basics, keys, revoking, inForce);
  const isOpen = config.INTROSPECTION === 'true';
  const flusher = new Flusher(
    Date.now,
    (delay, age, traceparent) => metrics.observeEvent(delay, age, loggedIds(traceparent)),
    {
      leftOut: ({ shared }, subscriber) => {
        metrics.leftOutResults.inc();
        trace?.listener?.({ step: 'left_out', result: shared, subscriber });
      },
      caughtUp: (sendQueue) => trace?.listener?.({ step: 'caught_up', sendQueue }),
    },
  );
  const channels = { channelPrefix: config.REDIS_PREFIX, maxChannels: config.MAX_CHANNELS };
  const hub = new Hub({
    ...maker.bounds,
    ...forHub(inForce.current),
    ...channels,
    bus,
    budget: flusher,
    bytes,
    paths: new BoundedLabels(),
    log: log.child({ part: 'hub' }),
    maxWaiting: config.MAX_WAITING_EVENTS,
    gapPolicy: config.ON_GAP,
    maxVariables: shareOf(config.MAX_VARIABLES_BYTES_PER_POD, processes),
    maxDocuments: bytesOfDocuments(),
    maxKept: shareOf(config.MAX_CHANNELS_PER_POD, processes),
    lingerMs: config.CHANNEL_LINGER_MS,
    trace,
    tracing,
    arrivals,
  });
  const turns = new Turns({ msPerSecond: config.LOOP_MS_PER_SECOND, now: () => performance.now() });
  const connections = new Connections({
    tokens: tokens && sessionsOptions(basics, tokens),
    metrics,
    pingSeconds: config.PING_SECONDS,
    maxAge: new ConnectionMaxAge(config.CONNECTION_MAX_AGE_SECONDS),
    clock: systemClock,
    gapClosesPerSecond: config.GAP_CLOSE_PER_SECOND / processes,
    viewerId: config.VIEWER_ID,
    connectionsOfViewer: config.MAX_CONNECTIONS_PER_VIEWER,
  });
  const caps = new OperationCaps(operationLimits(config, processes), connections.pod, metrics);
  const refused = new RefusedSubscriptions(Date.now);
  const subscriptions = new Subscriptions(hub, caps, refused);
  const sockets = new WebSocketTransport({
    connections,
    subscriptions,
    rate: new MessageRate(turns, config.MESSAGES_PER_SECOND, config.SUBSCRIBES_PER_SECOND),
    get schema() {
      return inForce.current.graph.schema;
    },
    get admission() {
      return inForce.current.admission;
    },
    get authenticator() {
      return inForce.current.authenticator;
    },
    get queries() {
      return inForce.current.queries;
    },
    flusher,
    metrics,
    log: log.child({ part: 'websocket' }),
    maxPayloadBytes: config.MAX_PAYLOAD_BYTES,
    messages: bytes.messages,
    bufferBytes: config.SOCKET_BUFFER_BYTES,
    initTimeoutMs: config.INIT_TIMEOUT_MS,
    compressionMinBytes: config.COMPRESSION_MIN_BYTES,
  });
  const relocation = new Relocation({
    settings: config,
    connections,
    clock: systemClock,
    log: log.child({ part: 'bus' }),
  });
  bus.onDeaf((isDeaf) => relocation.heard(isDeaf));
  const { admission, addresses, clients, server } = createAdmission(basics, connections, relocation);
  const httpLog = log.child({ part: 'http' });
  const originRefusals = new OriginRefusals({ metrics, log: httpLog, now: () => performance.now() });
  const originCheck = new OriginCheck(config.ORIGINS, originRefusals);
  const { accept } = ingest;
  const shown = ({ schema }: Pick<LoadedGraph, 'schema'>) => (isOpen ? schema : undefined);
  const graphiql = config.GRAPHIQL ? await Graphiql.load(shown(inForce.current.graph)) : undefined;
  const transport = new HttpTransport({
    get admission() {
      return inForce.current.admission;
    },
    get authenticator() {
      return tokens ?? inForce.current.authenticator;
    },
    get queries() {
      return inForce.current.queries;
    },
    turns,
    waiting: new WaitingRequests({
      most: shareOf(config.MAX_HANDSHAKES, processes),
      mostOfConnection: config.MAX_OPERATIONS,
      metrics,
    }),
    bytes: new RequestBytes({
      source: bytes.bodies,
      maxPayloadBytes: config.MAX_PAYLOAD_BYTES,
      metrics,
    }),
    maxOperations: config.MAX_OPERATIONS,
    metrics,
    tracing,
  });
  revoking.of(connections, transport.open);
  const routes = publicRoutes({
    transport,
    clients,
    streamResponder: new StreamResponder({
      streams: new Streams({
        connections,
        subscriptions,
        flusher,
        bufferBytes: config.SOCKET_BUFFER_BYTES,
        compressionMinBytes: config.COMPRESSION_MIN_BYTES,
        metrics,
      }),
      admission,
      unavailable: () => publicServer.unavailable(),
    }),
    originCheck,
    maxPayloadBytes: config.MAX_PAYLOAD_BYTES,
    graphiql,
    events: accept && {
      topics: () => [...inForce.current.graph.topics.keys()],
      shows: (topic) => topicNamed(inForce.current.graph.topics, topic) !== undefined,
      accept,
      bodies: bytes.bodies,
      fromAnywhere: config.EVENTS_FROM_ANYWHERE,
      refusal: pressure.pause,
    },
  });
  const publicServer: HttpServer = new HttpServer({
    ...server,
    port: config.PORT,
    setting: 'PORT',
    address: config.BIND,
    addressSetting: 'BIND',
    hostCheck: new HostCheck(config.HOSTS),
    certificate: createCertificate(basics),
    handle: new Router(routes, httpLog).handle,
    upgrade: new Upgrade({
      path: GRAPHQL_PATH,
      originCheck,
      admission,
      turns,
      unavailable: () => publicServer.unavailable(),
      accept: (request, socket, head) => sockets.accept(request, socket, head, addresses.addressOf(socket)),
      log: httpLog,
    }).handle,
  });
  const reload = (): Promise<object> =>
    replaceGraph({
      folder: inForce.current.graph.folder,
      claims: claimedNames(config),
      maker,
      inForce,
      hub,
      ingest,
      bus,
      plan: channels,
      show: (graph) => graphiql?.show(shown(graph)),
      log,
    });
  return {
    connections,
    publicServer,
    relocation,
    reload,
    refused,
    inspectable: { hub, connections, addresses, kafka: ingest.kafka },
  };
}

/** Only these parts: the hub would keep others longer than the graph is in force. */
function forHub({ graph, executor, contexts }: RunningGraph): HubGraph {
  return { graph, executor, contexts };
}

/** The limits of open operations for one process of a pod. */
function operationLimits(config: Config, processes: number): OperationLimits {
  return {
    operationsOfConnection: config.MAX_OPERATIONS,
    operationsOfViewer: config.MAX_OPERATIONS_PER_VIEWER,
    operationsOfPod: shareOf(config.MAX_OPERATIONS_PER_POD, processes),
    channelsOfConnection: config.MAX_CHANNELS_PER_CONNECTION,
    variablesOfConnection: config.MAX_VARIABLES_BYTES_PER_CONNECTION,
    lingerMs: config.CHANNEL_LINGER_MS,
  };
}

/**
 * @returns undefined if the public port does not speak TLS
 * @throws SluiceError BAD_SETTINGS
 */
function createCertificate({
  config: { TLS_CERT: cert, TLS_KEY: key },
  metrics,
  log,
}: Pick<Basics, 'config' | 'metrics' | 'log'>): Certificate | undefined {
  if (cert === undefined || key === undefined) return undefined;
  return new Certificate({
    files: { cert, key },
    expires: (at) => metrics.certificateExpires.set(at),
    clock: systemClock,
    log: log.child({ part: 'tls' }),
  });
}
