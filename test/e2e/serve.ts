import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from '../helpers/scope.ts';

/** A server of HTTP beside the gateway. @returns its address, which is the origin of its pages */
export async function serve(scope: Scope, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server whose pages hold nothing. */
export const servePages = (scope: Scope): Promise<string> =>
  serve(scope, (_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>');
  });
