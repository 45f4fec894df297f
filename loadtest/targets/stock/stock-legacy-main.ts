/** The stock recipe with subscriptions-transport-ws in place of graphql-ws. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { execute, subscribe } from 'graphql';
import snakecaseKeys from 'snakecase-keys';
import { SubscriptionServer } from 'subscriptions-transport-ws';
import { serve } from './readme-server.ts';

await serve({
  consume: 'eachMessage',
  transform: (event) => snakecaseKeys(event),
  async listen(schema, port) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    const subscriptions = SubscriptionServer.create(
      { schema, execute, subscribe },
      { server, path: '/graphql' },
    );
    return {
      port: (server.address() as AddressInfo).port,
      async stop() {
        subscriptions.close();
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      },
    };
  },
});
