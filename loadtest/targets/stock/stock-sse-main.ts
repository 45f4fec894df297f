/** The stock recipe with graphql-sse in place of graphql-ws. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHandler } from 'graphql-sse/lib/use/http';
import snakecaseKeys from 'snakecase-keys';
import { serve } from './readme-server.ts';

await serve({
  consume: 'eachMessage',
  transform: (event) => snakecaseKeys(event),
  async listen(schema, port) {
    const handle = createHandler({ schema });
    const server = createServer((request, response) => {
      // As in the README of graphql-sse. The handler rejects if a client leaves while the server writes to it.
      handle(request, response).catch(() => response.destroy());
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return {
      port: (server.address() as AddressInfo).port,
      async stop() {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      },
    };
  },
});
