/** Mercurius on Fastify, with its own WebSockets, which it does not ping unless told. (Its `jit` is not for subscriptions.) */
import type { AddressInfo } from 'node:net';
import type { GraphQLSchema } from 'graphql';
import snakecaseKeys from 'snakecase-keys';
import { serve } from '../stock/readme-server.ts';
import { peerPackage } from './peer-package.ts';

interface App {
  readonly server: { address(): AddressInfo };
  register(plugin: unknown, options: { schema: GraphQLSchema; subscription: boolean }): void;
  listen(options: { port: number; host: string }): Promise<string>;
  close(): Promise<void>;
}

const fastify = peerPackage('fastify') as () => App;
const mercurius = peerPackage('mercurius');

await serve({
  consume: 'eachMessage',
  transform: (event) => snakecaseKeys(event),
  async listen(schema, port) {
    const app = fastify();
    app.register(mercurius, { schema, subscription: true });
    await app.listen({ port, host: '127.0.0.1' });
    return { port: app.server.address().port, stop: () => app.close() };
  },
});
