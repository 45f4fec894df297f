import type { IncomingMessage, ServerResponse } from 'node:http';
import { headOf } from '../context/authenticator.ts';
import type { ReadBody } from '../transports/http/request-bytes.ts';
import type { HttpTransport } from '../transports/http/transport.ts';
import { readBody } from './body.ts';
import { Cors } from './cors.ts';
import { HttpError } from './http-error.ts';
import type { OriginCheck } from './origin-check.ts';
import type { RequestClients } from './request-clients.ts';
import { refusalBody, sendJson } from './respond.ts';
import type { StreamResponder } from './stream-responder.ts';
import { queryOf, type Handle, type Route } from './router.ts';

/** Path of GraphQL, over WebSocket, POST and GET. */
export const GRAPHQL_PATH = '/graphql';

/** A query by GET has at least one of these parameters. */
const QUERY_PARAMETERS = ['query', 'documentId', 'extensions'];

export interface GraphqlOptions {
  readonly transport: Pick<HttpTransport, 'respond'>;
  readonly streamResponder: Pick<StreamResponder, 'respond'>;
  readonly clients: Pick<RequestClients, 'ownerOf' | 'addressOf'>;
  readonly originCheck: OriginCheck;
  readonly maxPayloadBytes: number;
}

/** `/graphql` over plain HTTP: operations by POST and GET, and browsers' preflight requests for them. */
export function graphqlRoute(options: GraphqlOptions): Route {
  const { transport, streamResponder, clients, originCheck, maxPayloadBytes } = options;
  const cors = new Cors(originCheck);
  const guarded =
    (handle: Handle): Handle =>
    (request, response, rest) => {
      // Before the request may be refused, so that an allowed page can also read error responses.
      for (const [name, value] of Object.entries(cors.headersFor(request.headers))) {
        if (value !== undefined) response.setHeader(name, value);
      }
      const refusal = originCheck.refusal(request.headers);
      if (refusal === undefined) return handle(request, response, rest);
      sendJson(response, refusal.status, refusalBody(refusal));
    };
  const respond = async (
    request: IncomingMessage,
    response: ServerResponse,
    bodyOf: ReadBody | undefined,
  ): Promise<void> => {
    const left = new AbortController();
    response.once('close', () => left.abort());
    const { socket: connection } = request;
    const [owner, address] = [clients.ownerOf(request), clients.addressOf(request)];
    const client = { connection, owner, address, signal: left.signal };
    const result = await transport.respond(headOf(request), bodyOf, client);
    // Drops the unread rest of a refused request, so that the connection can be used again.
    request.resume();
    if ('operation' in result) {
      streamResponder.respond(result, request, response);
      return;
    }
    response.writeHead(result.status, result.headers);
    response.end(result.body);
  };
  return {
    path: GRAPHQL_PATH,
    methods: {
      GET: guarded((request, response) => {
        // The response depends on the client and on the time.
        response.setHeader('cache-control', 'no-store');
        demandQuery(request, maxPayloadBytes);
        return respond(request, response, undefined);
      }),
      POST: guarded((request, response) =>
        respond(request, response, (signal) => readBody(request, maxPayloadBytes, signal)),
      ),
      OPTIONS: ({ headers }, response) => {
        response.writeHead(204, cors.preflightFor(headers));
        response.end();
      },
    },
  };
}

/** @throws HttpError 426 if a GET has no query: a proxy may have removed the headers of an upgrade. 414 if too long. */
function demandQuery(request: IncomingMessage, maxBytes: number): void {
  const query = queryOf(request);
  if (!QUERY_PARAMETERS.some((name) => query.has(name))) {
    throw new HttpError(
      426,
      'expected a query, by POST or in the URL, or a WebSocket with the subprotocol graphql-transport-ws for a subscription; got GET without',
      { upgrade: 'websocket' },
    );
  }
  if ((request.url ?? '').length > maxBytes) {
    throw new HttpError(414, `expected a URL of at most ${maxBytes} bytes (MAX_PAYLOAD_BYTES), got more`);
  }
}
