import type { Keys } from '../auth/keys.ts';
import type { Revocations } from '../auth/revocations.ts';
import type { Bus } from '../bus/bus.ts';
import { OperationAdmission } from '../executor/operation-admission.ts';
import { Authenticator } from '../context/authenticator.ts';
import type { Backends } from '../backends/backends.ts';
import { Contexts } from '../context/event-scope.ts';
import { COST_CODES, costLimits } from '../executor/cost/limits.ts';
import { Executor } from '../executor/executor.ts';
import { FairLimiter } from '../support/fair-limiter.ts';
import { Queries } from '../context/queries.ts';
import { BoundedLabels } from '../support/bounded-labels.ts';
import { Flusher } from '../transports/websocket/flusher.ts';
import { Hub } from '../hub/hub.ts';
import { systemClock } from '../support/clock.ts';
import { Turns } from '../support/turns.ts';
import type { Ingest } from '../ingest/ingest.ts';
import { Graphiql } from '../server/graphiql/graphiql.ts';
import { GRAPHQL_PATH } from '../server/graphql-route.ts';
import { HostCheck } from '../server/host-check.ts';
import { HttpServer } from '../server/http-server.ts';
import { OriginCheck } from '../server/origin-check.ts';
import { publicRoutes } from '../server/public-routes.ts';
import { Router } from '../server/router.ts';
import { Upgrade } from '../server/upgrade.ts';
import { ConnectionMaxAge } from '../transports/websocket/max-age.ts';
import { MessageRate } from '../transports/websocket/message-rate.ts';
import { PostTransport } from '../transports/http/post.ts';
import { WebSocketTransport } from '../transports/websocket/transport.ts';
import type { Basics } from './basics.ts';
import { loadPersistedDocuments } from './load-persisted-documents.ts';
import { clientLimits } from './client-limits.ts';
import { createAdmission } from './create-admission.ts';
import { shareOf } from './pod-share.ts';
import { createTokenAuthenticator, sessionsOptions } from './tokens.ts';

/** What browsers reach: sockets, requests and pages, and what executes for them. */
export async function createPublicSide(
  basics: Basics,
  bus: Bus,
  ingest: Ingest,
  backends: Backends,
  keys: Keys | undefined,
  revocations: Revocations,
) {
  const { config, processes, graph, pressure, metrics, log } = basics;
  const { schema, topics, definition, hasAuth } = graph;
  const contexts = new Contexts(definition, backends, Date.now, hasAuth);
  const authenticator = new Authenticator(
    definition,
    config.EXECUTE_TIMEOUT_MS,
    log.child({ part: 'authenticate' }),
  );
  const tokens = keys && createTokenAuthenticator(basics, keys, revocations, authenticator);
  for (const code of Object.values(COST_CODES)) metrics.refusedOperations.inc({ code }, 0);
  const isOpen = config.INTROSPECTION === 'true';
  const executor = new Executor({
    schema,
    cacheSize: config.DOCUMENT_CACHE_SIZE,
    cacheCharacters: config.DOCUMENT_CACHE_CHARACTERS,
    suggestions: isOpen,
    limits: costLimits(config),
    refused: (code) => metrics.refusedOperations.inc({ code }),
    log,
  });
  const operationAdmission = new OperationAdmission({
    executor,
    persisted: loadPersistedDocuments(config, executor),
    persistedOnly: config.PERSISTED_DOCUMENTS_ONLY,
    introspection: config.INTROSPECTION,
  });
  const flusher = new Flusher(
    Date.now,
    (delay, age) => metrics.observeEvent(delay, age),
    () => metrics.leftOutResults.inc(),
  );
  const bounds = {
    limiter: new FairLimiter(config.EXECUTE_CONCURRENCY),
    metrics,
    timeoutMs: config.EXECUTE_TIMEOUT_MS,
  };
  const queries = new Queries({ ...bounds, executor, contexts });
  const hub = new Hub({
    ...bounds,
    graph,
    bus,
    executor,
    contexts,
    budget: flusher,
    paths: new BoundedLabels(),
    log: log.child({ part: 'hub' }),
    maxWaiting: config.MAX_WAITING_EVENTS,
    channelPrefix: config.REDIS_PREFIX,
    maxChannels: config.MAX_CHANNELS,
    gapPolicy: config.ON_GAP,
    maxVariables: shareOf(config.MAX_VARIABLES_BYTES_PER_POD, processes),
  });
  const turns = new Turns({ msPerSecond: config.LOOP_MS_PER_SECOND, now: () => performance.now() });
  const sockets = new WebSocketTransport({
    rate: new MessageRate(turns, config.MESSAGES_PER_SECOND, config.SUBSCRIBES_PER_SECOND),
    schema,
    admission: operationAdmission,
    hub,
    authenticator,
    queries,
    tokens: tokens && sessionsOptions(basics, tokens),
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
    limits: clientLimits(config, processes),
  });
  const { admission, addresses, server } = createAdmission(basics, sockets);
  const httpLog = log.child({ part: 'http' });
  const originCheck = new OriginCheck(config.ORIGINS);
  const { accept } = ingest;
  const routes = publicRoutes({
    post: new PostTransport({
      admission: operationAdmission,
      authenticator: tokens ?? authenticator,
      queries,
      turns,
      maxOperations: config.MAX_OPERATIONS,
    }),
    originCheck,
    maxPayloadBytes: config.MAX_PAYLOAD_BYTES,
    graphiql: config.GRAPHIQL ? await Graphiql.load(isOpen ? schema : undefined) : undefined,
    events: accept && {
      topics,
      accept,
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
    handle: new Router(routes, httpLog).handle,
    upgrade: new Upgrade({
      path: GRAPHQL_PATH,
      originCheck,
      admission,
      turns,
      unavailable: () => publicServer.unavailable(),
      accept: (request, socket, head) => sockets.accept(request, socket, head),
      log: httpLog,
    }).handle,
  });
  return { sockets, publicServer, inspectable: { hub, sockets, addresses, kafka: ingest.kafka } };
}
