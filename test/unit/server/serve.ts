import { request as httpRequest, type Agent, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { HttpServer, type HttpServerOptions } from '../../../src/server/http-server.ts';
import { Router, type Route } from '../../../src/server/router.ts';
import { Certificate } from '../../../src/server/tls/certificate.ts';
import { systemClock } from '../../../src/support/clock.ts';
import { createLog } from '../../../src/log.ts';
import type { Certificate as CertificateFiles } from '../../helpers/certificate.ts';
import type { Scope } from '../../helpers/scope.ts';

export const silent = createLog('silent');

/** Answers every request with 200. */
export const done: HttpServerOptions['handle'] = async (_request, response) => {
  response.end('done');
};

export type ListenOptions = Omit<HttpServerOptions, 'port' | 'setting'>;

/** A server on a free port, stopped with its scope. */
export async function listen(
  scope: Scope,
  options: ListenOptions,
): Promise<{ port: number; server: HttpServer }> {
  const server = new HttpServer({ port: 0, setting: 'PORT', ...options });
  scope.after(() => server.stop(AbortSignal.abort()));
  return { port: await server.start(), server };
}

export async function serve(scope: Scope, routes: readonly Route[]): Promise<number> {
  const { port } = await listen(scope, { handle: new Router(routes, silent).handle });
  return port;
}

/** A raw connection, on which this is sent; it may be reset, and is closed with its scope. */
export function dial(scope: Scope, port: number, sent = ''): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  scope.after(() => socket.destroy());
  socket.write(sent);
  return socket;
}

/** A certificate of a server, in these files. */
export function certificateIn({ certificateFile: cert, keyFile: key }: CertificateFiles): Certificate {
  const files = { cert, key };
  return new Certificate({ files, expires: () => undefined, clock: systemClock, log: silent });
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Keeps the connection for the next request. Without one each request has its own. */
  readonly agent?: Agent;
}

/** Unlike `fetch`, sends any header (`Host`, `Origin`) and any path as it stands. */
export function ask(
  port: number,
  path: string,
  { method = 'GET', headers, body, agent }: Ask = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, agent: agent ?? false };
    const outgoing = httpRequest({ ...options, ...(headers && { headers }) });
    outgoing.once('error', reject);
    outgoing.once('response', (incoming) => {
      text(incoming).then(
        (content) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: content }),
        reject,
      );
    });
    outgoing.end(body);
  });
}

/** An answer without its date, to compare it with another one. */
export function essence({ status, headers, body }: Answer): unknown {
  return { status, headers: { ...headers, date: undefined }, body };
}

/** The message of a refusal. */
export function errorOf({ body }: Answer): string {
  return (JSON.parse(body) as { error: string }).error;
}

/** The head of a request to upgrade to WebSocket. */
export const upgradeRequest = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n${headers}\r\n`;
