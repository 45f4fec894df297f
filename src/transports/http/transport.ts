import { GraphQLError, type ExecutionResult } from 'graphql';
import { createHandler, type Handler, type RequestParams } from '#graphql-http';
import { TokenRefusal } from '../../auth/refusal.ts';
import { PendingQuery } from '../../context/pending-query.ts';
import type { Queries } from '../../context/queries.ts';
import type { Identity } from '../../context/token-authenticator.ts';
import type { OperationAdmission } from '../../executor/operation-admission.ts';
import type { RequestHead } from '../../graph/api/context.ts';
import type { Metrics } from '../../metrics.ts';
import type { Reservation } from '../../support/byte-budget.ts';
import type { Turns } from '../../support/turns.ts';
import type { OpenSpan } from '../../tracing/span.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import type { SubscribeExtensions } from '../delivery/client-subscription.ts';
import { acceptedBy, type Accepted } from './accepted.ts';
import { EVENT_STREAM } from './event-stream.ts';
import { inTurn, type HttpClient } from './http-client.ts';
import { bodyless, TAKEN, wholeStream, type HttpResponse } from './http-response.ts';
import { FORBIDDEN, LEFT, NO_MUTATIONS, tooMany, unidentified, type Refusal } from './refusals.ts';
import { OpenRequests, type OpenRequest } from './open-requests.ts';
import type { ReadBody, RequestBytes } from './request-bytes.ts';
import { parseHttpParams, type HttpParams } from './request-params.ts';
import type { StreamWire } from './stream-wire.ts';
import type { RequestedSubscription } from './streams.ts';
import type { WaitingRequests } from './waiting-requests.ts';
import { givenTrace } from '../../tracing/traceparent.ts';

/** Says who has sent a request. */
export interface Identifier {
  /** @returns the identity; it has null as the viewer, or is a refusal, if the client is not let in */
  identify(params: Readonly<Record<string, unknown>>, request: RequestHead): Promise<Identity | TokenRefusal>;
  /** Why a client that was identified in an earlier turn is refused after all. Absent: no client is. */
  refusalOf?(identity: Identity): TokenRefusal | undefined;
}

export interface HttpTransportOptions {
  readonly admission: Pick<OperationAdmission, 'prepare'>;
  readonly authenticator: Identifier;
  readonly queries: Pick<Queries, 'execute'>;
  readonly turns: Pick<Turns, 'run' | 'leave' | 'of' | 'countUnmeasured'>;
  readonly waiting: Pick<WaitingRequests, 'enter' | 'leave'>;
  readonly bytes: Pick<RequestBytes, 'reserve' | 'read' | 'keep'>;
  /** Most requests of one connection that are executed at once: a client may send them without waiting for responses. */
  readonly maxOperations: number;
  readonly metrics: Pick<Metrics, 'refused'>;
  /** Undefined: no spans are recorded. */
  readonly tracing?: Tracing | undefined;
}

/** One request, while it is handled. */
interface Exchange {
  readonly client: HttpClient;
  readonly accepted: Accepted;
  /** Undefined: it is not sampled. */
  readonly span: OpenSpan | undefined;
  /** It counts as a waiting request. */
  isWaiting?: boolean;
  identity?: Identity;
  reservation?: Reservation;
  /** The body of a POST, until it has been parsed. */
  body?: Buffer | undefined;
  /** The document has been looked at: errors from now on are its result. */
  isAnswered?: boolean;
  /** Set if it asks for a subscription, and accepts the results in a response. */
  subscription?: RequestedSubscription;
  /** graphql-http writes its error in the media type that the client accepts, with a status of its own. */
  refusal?: Refusal;
}

/** What graphql-http sends: a result, or errors of an operation that has not begun. */
type Outcome = ExecutionResult | readonly GraphQLError[];

/** The parameters of a request that was refused before it was read. */
const NO_PARAMS: HttpParams = { query: '' };

const NO_SUBSCRIPTIONS = new GraphQLError(
  'expected a subscription over a WebSocket with the subprotocol graphql-transport-ws, or with accept: text/event-stream or multipart/mixed;subscriptionSpec=1.0; got one that takes a single response',
);

/**
 * Queries and mutations by `POST`, and queries by `GET`, as GraphQL over HTTP says. graphql-http reads the request and
 * picks the status; the executor does the rest, so documents are parsed once for all transports. Knows nothing of sockets.
 *
 *     counted ─ turn: client identified ─ bytes reserved ─ body read ─ turn: parsed ─ turn: executed ─ bytes released
 *     └─ a request that waits ──────────────────────────────────────────────────────┘
 */
export class HttpTransport {
  readonly #options: HttpTransportOptions;
  readonly #handle: Handler<RequestHead, Exchange>;
  readonly open: OpenRequests;
  /** The number of queries of each connection that are executed, or wait for it. */
  readonly #executed = new WeakMap<object, number>();

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    const { turns } = options;
    this.open = new OpenRequests((identity) => options.authenticator.refusalOf?.(identity));
    this.#handle = createHandler({
      parseRequestParams: async (request) => {
        const { client, body, refusal } = request.context;
        if (refusal !== undefined) return NO_PARAMS;
        const params = await inTurn(turns, client, 0, () => parseHttpParams(request, body));
        if (params === undefined) request.context.refusal = LEFT;
        return params ?? NO_PARAMS;
      },
      onSubscribe: async ({ method, raw, context: exchange }, params) => {
        this.#keep(exchange, raw, params);
        const { client, identity, refusal } = exchange;
        if (refusal !== undefined || identity === undefined) return refuse(exchange, refusal ?? LEFT);
        const outcome = await this.open.during(identity, (open) =>
          inTurn(turns, client, 0, () => this.#answer(open, params, raw, exchange, method === 'GET')),
        );
        if (outcome instanceof TokenRefusal) return refuse(exchange, unidentified(outcome));
        return outcome ?? refuse(exchange, exchange.refusal ?? LEFT);
      },
    });
  }

  /**
   * @param readBody reads the body of a POST, within its bound; undefined for a GET, which has the query in its URL
   * @returns a response, or the subscription whose results are to be the response
   */
  respond(
    request: RequestHead,
    readBody: ReadBody | undefined,
    client: HttpClient,
  ): Promise<HttpResponse | RequestedSubscription> {
    const method = readBody === undefined ? 'GET' : 'POST';
    return withRequestSpan(this.#options.tracing, request, method, async (span) => {
      const exchange: Exchange = { client, accepted: acceptedBy(request.headers.accept), span };
      try {
        const refusal = await this.#refusal(exchange, request, readBody);
        if (refusal !== undefined) exchange.refusal = refusal;
        return await this.#respond(request, method, exchange);
      } finally {
        this.#waitsNoMore(exchange);
        exchange.reservation?.release();
      }
    });
  }

  /** @returns why the request is not read: a refused client learns no names from errors, and takes no memory or time */
  async #refusal(
    exchange: Exchange,
    request: RequestHead,
    readBody: ReadBody | undefined,
  ): Promise<Refusal | undefined> {
    const { authenticator, bytes, turns, waiting } = this.#options;
    const { client } = exchange;
    const { address, connection, owner, signal } = client;
    const full = waiting.enter(connection, address);
    if (full !== undefined) return full;
    exchange.isWaiting = true;
    // A refused request uses its part of the share, too: verifying its token costs more than most queries.
    const identity = await inTurn(turns, client, owner.secondsOfRequest, () => {
      turns.countUnmeasured();
      return authenticator.identify({}, request);
    });
    if (identity === undefined) return LEFT;
    if (identity instanceof TokenRefusal) return unidentified(identity);
    if (identity.viewer === null) return FORBIDDEN;
    exchange.identity = identity;
    const length = readBody === undefined ? request.url.length : Number(request.headers['content-length']);
    const reserved = await bytes.reserve(length, address ?? connection, signal);
    if ('error' in reserved) return reserved;
    exchange.reservation = reserved;
    const body = await (readBody && bytes.read(readBody));
    if (body !== undefined && 'error' in body) return body;
    exchange.body = body;
    return undefined;
  }

  async #respond(
    request: RequestHead,
    method: string,
    exchange: Exchange,
  ): Promise<HttpResponse | RequestedSubscription> {
    const { accepted } = exchange;
    const only = accepted.json ? undefined : accepted.wire;
    const [text, init] = await this.#handle({
      method,
      url: request.url,
      headers: {
        // graphql-http does not know the media types of streams.
        get: (name) =>
          name === 'accept' && only !== undefined ? TAKEN : (request.headers[name]?.toString() ?? null),
      },
      body: null,
      raw: request,
      context: exchange,
    });
    if (exchange.subscription !== undefined) return exchange.subscription;
    if (text === null) return bodyless(init, request);
    // graphql-sse's clients look for errors of a document in the stream.
    if (only !== undefined && exchange.isAnswered === true && exchange.refusal === undefined) {
      return wholeStream(only, text);
    }
    const { status = init.status, headers } = exchange.refusal ?? {};
    return { status, headers: { ...init.headers, ...headers }, body: text };
  }

  /** The request has been parsed: reserves bytes for its values. */
  #keep(exchange: Exchange, { url }: RequestHead, params: RequestParams): void {
    const { reservation, body } = exchange;
    exchange.body = undefined;
    if (exchange.refusal !== undefined || reservation === undefined) return;
    const refusal = this.#options.bytes.keep(reservation, body?.length ?? url.length, params);
    if (refusal !== undefined) exchange.refusal = refusal;
  }

  /** Counts a query of a connection until it has a result. */
  async #counted<T>(connection: object, result: Promise<T>): Promise<T> {
    const count = (more: number): void => {
      this.#executed.set(connection, (this.#executed.get(connection) ?? 0) + more);
    };
    count(1);
    return result.finally(() => count(-1));
  }

  #waitsNoMore(exchange: Exchange): void {
    const { connection, address } = exchange.client;
    if (exchange.isWaiting === true) this.#options.waiting.leave(connection, address);
    exchange.isWaiting = false;
  }

  async #answer(
    open: OpenRequest,
    params: RequestParams,
    request: RequestHead,
    exchange: Exchange,
    isGet: boolean,
  ): Promise<Outcome | undefined> {
    const { admission, metrics, queries, turns, maxOperations } = this.#options;
    const { client, span } = exchange;
    const { identity, mayBegin } = open;
    const { connection, owner, address, signal } = client;
    this.#waitsNoMore(exchange);
    if (!mayBegin()) return undefined;
    const { viewer } = identity;
    exchange.isAnswered = true;
    const operation = admission.prepare(params, viewer);
    if (isErrors(operation)) return operation;
    if (operation.kind === 'subscription') {
      const { wire } = exchange.accepted;
      if (wire === undefined) return [NO_SUBSCRIPTIONS];
      const variables = params.variables ?? {};
      const extensions = extensionsOf(params, request, wire);
      exchange.subscription = { wire, operation, variables, extensions, identity, request, address };
      return [];
    }
    if (operation.kind === 'mutation' && isGet) return refuse(exchange, NO_MUTATIONS);
    const executed = this.#executed.get(connection) ?? 0;
    if (executed >= maxOperations) {
      metrics.refused('operations_of_connection');
      return refuse(exchange, tooMany(maxOperations));
    }
    const outcome = queries.execute({
      operation,
      variables: params.variables ?? {},
      viewer,
      owner: address ?? connection,
      span,
      turns: turns.of(owner),
      mayBegin,
    });
    // The result is serialised and sent in microtasks, so that all results of a turn are in memory together.
    turns.countUnmeasured();
    const result =
      outcome instanceof PendingQuery
        ? await this.#counted(connection, open.resultOf(outcome, signal))
        : outcome;
    // Without data, the execution never began: graphql-http picks another status if it gets only the errors.
    return result === undefined || 'data' in result ? result : (result.errors ?? []);
  }
}

function refuse(exchange: Exchange, refusal: Refusal): Outcome {
  exchange.refusal = refusal;
  return [refusal.error];
}

/** A browser's EventSource that reconnects sends the last id that it got, which is a cursor. */
function extensionsOf(
  { extensions }: RequestParams,
  { headers }: RequestHead,
  wire: StreamWire,
): SubscribeExtensions {
  const resume = headers['last-event-id'];
  return wire === EVENT_STREAM && resume !== undefined ? { ...extensions, resume } : { ...extensions };
}

function isErrors(prepared: object): prepared is readonly GraphQLError[] {
  return Array.isArray(prepared);
}

/**
 * Opens a span while a request is handled: it continues the trace of the client.
 *
 * @param handle gets undefined if the request is not sampled
 */
export async function withRequestSpan<Response extends object>(
  tracing: Tracing | undefined,
  { headers }: Pick<RequestHead, 'headers'>,
  method: string,
  handle: (span: OpenSpan | undefined) => Promise<Response>,
): Promise<Response> {
  const attributes = { 'http.request.method': method, 'http.route': '/graphql' };
  const span = tracing?.begin(`${method} /graphql`, 'SERVER', attributes, givenTrace(headers));
  try {
    const response = await handle(span);
    if ('status' in response) span?.note({ 'http.response.status_code': Number(response.status) });
    return response;
  } finally {
    span?.end();
  }
}
