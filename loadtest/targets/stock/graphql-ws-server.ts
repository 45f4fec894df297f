import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { GraphQLSchema } from 'graphql';
import type { ServerOptions } from 'graphql-ws';
import { useServer, type Extra } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import type { Recipe } from './readme-server.ts';

/** The time that clients have to close their connections. */
const STOP_GRACE_MS = 2_000;

/** Serves as in the README of graphql-ws. @param options returns the options of `useServer` */
export function listenWith(
  options: (schema: GraphQLSchema) => ServerOptions<Record<string, unknown>, Extra>,
): Recipe['listen'] {
  return async (schema, port) => {
    const { DEFLATE_THRESHOLD: threshold } = process.env;
    const perMessageDeflate = threshold !== undefined && { threshold: Number(threshold) };
    const webSockets = new WebSocketServer({ host: '127.0.0.1', port, path: '/graphql', perMessageDeflate });
    const server = useServer(options(schema), webSockets);
    await once(webSockets, 'listening');
    return {
      port: (webSockets.address() as AddressInfo).port,
      async stop() {
        const terminating = setTimeout(() => {
          for (const client of webSockets.clients) client.terminate();
        }, STOP_GRACE_MS);
        await server.dispose();
        clearTimeout(terminating);
      },
    };
  };
}
