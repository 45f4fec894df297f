import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from './scope.ts';

/** An HTTP server on this machine, which is closed with its scope. @returns its address, the origin of its pages */
export async function serveHttp(scope: Scope, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server whose pages are empty but for an element that a test fills. @returns their origin */
export const servePages = (scope: Scope): Promise<string> =>
  serveHttp(scope, (_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title><main></main>');
  });
