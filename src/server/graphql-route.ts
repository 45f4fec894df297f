import { headOf } from '../context/authenticator.ts';
import type { PostTransport } from '../transports/http/post.ts';
import { readBody } from './body.ts';
import { HttpError } from './http-error.ts';
import type { OriginCheck } from './origin-check.ts';
import type { Handle, Route } from './router.ts';

/** Path of GraphQL, over WebSocket and POST. */
export const GRAPHQL_PATH = '/graphql';

export interface GraphqlOptions {
  readonly post: Pick<PostTransport, 'respond'>;
  readonly originCheck: OriginCheck;
  readonly maxPayloadBytes: number;
}

/** `/graphql` over plain HTTP: queries by POST, and browsers' preflight requests for them. */
export function graphqlRoute({ post, originCheck, maxPayloadBytes }: GraphqlOptions): Route {
  const guarded =
    (handle: Handle): Handle =>
    (request, response, rest) => {
      // Before the request may be refused, so that an allowed page can also read error responses.
      for (const [name, value] of Object.entries(originCheck.corsHeaders(request.headers))) {
        if (value !== undefined) response.setHeader(name, value);
      }
      originCheck.demand(request.headers);
      return handle(request, response, rest);
    };
  return {
    path: GRAPHQL_PATH,
    methods: {
      GET: () => {
        throw new HttpError(
          426,
          'expected POST for a query, or a WebSocket with the subprotocol graphql-transport-ws for a subscription; got GET',
          { upgrade: 'websocket' },
        );
      },
      POST: guarded(async (request, response) => {
        const body = await readBody(request, maxPayloadBytes);
        const left = new AbortController();
        response.once('close', () => left.abort());
        const client = { owner: request.socket, signal: left.signal };
        const result = await post.respond(headOf(request), body.toString(), client);
        response.writeHead(result.status, result.headers);
        response.end(result.body);
      }),
      OPTIONS: guarded((_request, response) => {
        response.writeHead(204, {
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'authorization, content-type',
          'access-control-max-age': '600',
        });
        response.end();
      }),
    },
  };
}
