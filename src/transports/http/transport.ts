import { GraphQLError, type ExecutionResult } from 'graphql';
import { createHandler, type Handler, type RequestParams, type ResponseInit } from 'graphql-http';
import type { OutgoingHttpHeaders } from 'node:http';
import { TokenRefusal } from '../../auth/refusal.ts';
import { PendingQuery } from '../../context/pending-query.ts';
import type { Queries } from '../../context/queries.ts';
import type { Identity } from '../../context/token-authenticator.ts';
import type { OperationAdmission } from '../../executor/operation-admission.ts';
import type { RequestHead } from '../../graph/api/context.ts';
import type { Turns, TurnTaker } from '../../support/turns.ts';
import type { OpenSpan } from '../../tracing/span.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import { tooManyOperations } from '../too-many-operations.ts';
import { acceptedBy, type Accepted } from './accepted.ts';
import { EVENT_STREAM } from './event-stream.ts';
import { OpenRequests, type OpenRequest } from './open-requests.ts';
import { parseHttpParams } from './request-params.ts';
import { withRequestSpan } from './request-span.ts';
import { streamHeaders, type StreamWire } from './stream-wire.ts';
import type { RequestedSubscription } from './streams.ts';
import type { SubscribeExtensions } from '../delivery/client-subscription.ts';

/** Says who has sent a request. */
export interface Identifier {
  /** @returns with null as the viewer, or a refusal, if it is not let in */
  identify(params: Readonly<Record<string, unknown>>, request: RequestHead): Promise<Identity | TokenRefusal>;
  /** Why one that was let in may not begin any more. Absent: without tokens none is refused then. */
  refusalOf?(identity: Identity): TokenRefusal | undefined;
}

/** A whole HTTP response, ready to be written. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/** The HTTP connection of a request. */
export interface HttpClient {
  readonly owner: object;
  /** Aborted when the connection is closed before the response. */
  readonly signal: AbortSignal;
}

export interface HttpTransportOptions {
  readonly admission: Pick<OperationAdmission, 'prepare'>;
  readonly authenticator: Identifier;
  readonly queries: Pick<Queries, 'execute' | 'countOf'>;
  readonly turns: Pick<Turns, 'run'>;
  /** Of one connection, at the same time: requests that a client sends without waiting for responses. */
  readonly maxOperations: number;
  /** Undefined: no spans are recorded. */
  readonly tracing?: Tracing | undefined;
}

/** Why a request is answered before its document is looked at. */
interface Refusal {
  readonly status: number;
  readonly error: GraphQLError;
  readonly headers?: OutgoingHttpHeaders;
}

/** One request, while it is handled. */
interface Exchange {
  readonly client: HttpClient;
  readonly accepted: Accepted;
  /** Undefined: it is not sampled. */
  readonly span: OpenSpan | undefined;
  /** The document has been looked at: what is wrong is a result of it. */
  isAnswered?: boolean;
  /** It asks for the results of a subscription, and takes them in a response. */
  subscription?: RequestedSubscription;
  /** graphql-http writes its error in the media type that the client accepts, with a status of its own. */
  refusal?: Refusal;
}

/** What graphql-http sends: a result, or errors of an operation that has not begun. */
type Outcome = ExecutionResult | readonly GraphQLError[];

/**
 * Requests that may wait for their turn of the event loop before further ones are refused. Messages of sockets that wait
 * too are not counted.
 */
const MAX_WAITING = 1_000;

const FORBIDDEN = refusal(403, 'FORBIDDEN', 'Forbidden: authenticate refused the request');
const BUSY = refusal(503, 'POD_FULL', 'Too many requests wait for their turn: try again later', {
  'retry-after': '1',
});

/** A page of any site can have a browser send a GET, so it must change nothing. */
const NO_MUTATIONS = refusal(
  405,
  'METHOD_NOT_ALLOWED',
  'Mutations are not executed over GET: send them by POST',
  { allow: 'POST' },
);

const NO_SUBSCRIPTIONS = new GraphQLError(
  'expected a subscription over a WebSocket with the subprotocol graphql-transport-ws, or with accept: text/event-stream or multipart/mixed;subscriptionSpec=1.0; got one that takes a single response',
);

/** Media types, in UTF-8. */
const TAKEN = 'application/json';
const ANSWERED = `application/graphql-response+json or ${TAKEN}`;

/** For a client that does not read it any more. */
const LEFT = [new GraphQLError('The client has left.')];

/** One request, which has a turn of its own: its address may be that of a proxy, which many clients share. */
class Request implements TurnTaker {
  spentUntil = 0;
  hold(): void {}
  resume(): void {}
  overrun(): void {}
}

/**
 * Queries and mutations by `POST`, and queries by `GET`, as GraphQL over HTTP says. graphql-http reads the request and
 * picks the status; the executor does the rest, so documents are parsed once for all transports. Knows nothing of sockets.
 */
export class HttpTransport {
  readonly #options: HttpTransportOptions;
  readonly #handle: Handler<RequestHead, Exchange>;
  /** Requests that wait for their turn. */
  #waiting = 0;
  readonly open: OpenRequests;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.open = new OpenRequests((identity) => options.authenticator.refusalOf?.(identity));
    this.#handle = createHandler({
      parseRequestParams: parseHttpParams,
      onSubscribe: async ({ method, raw, context: exchange }, params) => {
        // Before the document is looked at: a refused client neither learns names from errors nor takes time.
        const identity = await options.authenticator.identify({}, raw);
        if (identity instanceof TokenRefusal) exchange.refusal = refused(identity);
        else if (identity.viewer === null) exchange.refusal = FORBIDDEN;
        else if (this.#waiting >= MAX_WAITING) exchange.refusal = BUSY;
        else {
          const outcome = await this.open.during(identity, (open) =>
            this.#inTurn(() => this.#answer(open, params, raw, exchange, method === 'GET')),
          );
          if (!(outcome instanceof TokenRefusal)) return outcome;
          exchange.refusal = refused(outcome);
        }
        return [exchange.refusal.error];
      },
    });
  }

  /**
   * @param body of a POST, already bounded and read; undefined: a GET, whose URL has the query
   * @returns a response, or the subscription whose results are to be the response
   */
  respond(
    request: RequestHead,
    body: string | undefined,
    client: HttpClient,
  ): Promise<HttpResponse | RequestedSubscription> {
    const method = body === undefined ? 'GET' : 'POST';
    return withRequestSpan(this.#options.tracing, request, method, (span) =>
      this.#respond(request, method, body, client, span),
    );
  }

  async #respond(
    request: RequestHead,
    method: string,
    body: string | undefined,
    client: HttpClient,
    span: OpenSpan | undefined,
  ): Promise<HttpResponse | RequestedSubscription> {
    const accepted = acceptedBy(request.headers.accept);
    const only = accepted.json ? undefined : accepted.wire;
    const exchange: Exchange = { client, accepted, span };
    const [text, init] = await this.#handle({
      method,
      url: request.url,
      headers: {
        // graphql-http knows none of the types that streams have.
        get: (name) =>
          name === 'accept' && only !== undefined ? TAKEN : (request.headers[name]?.toString() ?? null),
      },
      body: body ?? null,
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

  #inTurn(answer: () => Promise<Outcome>): Promise<Outcome> {
    this.#waiting += 1;
    return new Promise((resolve) => {
      this.#options.turns.run(new Request(), () => {
        this.#waiting -= 1;
        resolve(answer());
        return 0;
      });
    });
  }

  async #answer(
    open: OpenRequest,
    params: RequestParams,
    request: RequestHead,
    exchange: Exchange,
    isGet: boolean,
  ): Promise<Outcome> {
    const { identity, mayBegin } = open;
    const { viewer } = identity;
    const { owner, signal } = exchange.client;
    if (signal.aborted || !mayBegin()) return LEFT;
    exchange.isAnswered = true;
    const { admission, queries, maxOperations } = this.#options;
    const operation = admission.prepare(params, viewer);
    if (isErrors(operation)) return operation;
    if (operation.kind === 'subscription') {
      const { wire } = exchange.accepted;
      if (wire === undefined) return [NO_SUBSCRIPTIONS];
      const variables = params.variables ?? {};
      const extensions = extensionsOf(params, request, wire);
      exchange.subscription = { wire, operation, variables, extensions, identity, request };
      return [];
    }
    if (operation.kind === 'mutation' && isGet) {
      exchange.refusal = NO_MUTATIONS;
      return [NO_MUTATIONS.error];
    }
    if (queries.countOf(owner) >= maxOperations) return [tooManyOperations(maxOperations)];
    const { span } = exchange;
    const variables = params.variables ?? {};
    const outcome = queries.execute({ operation, variables, viewer, owner, span, mayBegin });
    const result = outcome instanceof PendingQuery ? await open.resultOf(outcome, signal) : outcome;
    if (result === undefined) return LEFT;
    // A result without data never began to execute: graphql-http picks another status for that, given the errors alone.
    return 'data' in result ? result : (result.errors ?? []);
  }
}

/** The result of an operation that is over, for a client that takes nothing but streams. */
function wholeStream(wire: StreamWire, json: string): HttpResponse {
  return {
    status: 200,
    headers: streamHeaders(wire),
    body: wire.opening() + wire.result(json) + wire.completed,
  };
}

/** A browser's EventSource that connects again tells the last id that it has got, which is a cursor. */
function extensionsOf(
  { extensions }: RequestParams,
  { headers }: RequestHead,
  wire: StreamWire,
): SubscribeExtensions {
  const resume = headers['last-event-id'];
  return wire === EVENT_STREAM && resume !== undefined ? { ...extensions, resume } : { ...extensions };
}

/** The body that graphql-http leaves out where it can't take the request's media types: 406 and 415. */
function bodyless({ status, headers }: ResponseInit, request: RequestHead): HttpResponse {
  const { accept, 'content-type': contentType = 'none' } = request.headers;
  const { error } =
    status === 406
      ? refusal(status, 'NOT_ACCEPTABLE', `expected accept to name ${ANSWERED}, got ${accept}`)
      : refusal(status, 'UNSUPPORTED_MEDIA_TYPE', `expected content-type ${TAKEN}, got ${contentType}`);
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ errors: [error] }),
  };
}

/** The client may try again with another token, or later. */
function refused({ reason, isTemporary }: TokenRefusal): Refusal {
  if (isTemporary) return refusal(503, 'SERVICE_UNAVAILABLE', reason, { 'retry-after': '2' });
  return refusal(401, 'UNAUTHENTICATED', reason, { 'www-authenticate': 'Bearer' });
}

function isErrors(prepared: object): prepared is readonly GraphQLError[] {
  return Array.isArray(prepared);
}

function refusal(status: number, code: string, message: string, headers?: OutgoingHttpHeaders): Refusal {
  const error = new GraphQLError(message, { extensions: { code } });
  return headers === undefined ? { status, error } : { status, error, headers };
}
