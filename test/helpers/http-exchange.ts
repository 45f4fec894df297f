import { request as plainRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect } from 'node:http2';
import { request as secureRequest } from 'node:https';

/** A gateway's public port. */
interface Place {
  readonly port: number;
  readonly isSecure: boolean;
}

/** Gets a response while it comes. */
export interface Heard {
  head(status: number): void;
  data(text: string): void;
  /** The response is complete, or the connection is lost. */
  closed(): void;
}

/** The client's side of a response that is coming. */
export interface Exchange {
  /** Ends the response; in HTTP/2 the connection stays. */
  cancel(): void;
  /** Breaks the connection. */
  destroy(): void;
  pause(): void;
  resume(): void;
}

type Headers = Readonly<Record<string, string>>;

/** The window of browsers: bytes beyond it stay at the server, while TCP would take them. */
const WINDOW = { initialWindowSize: 6_291_456 };

/** Sends a POST to `/graphql`: over HTTP/2 if the gateway speaks TLS. */
export function exchange(gateway: Place, headers: Headers, body: string, heard: Heard): Exchange {
  return gateway.isSecure
    ? overHttp2(gateway, headers, body, heard)
    : overHttp1(gateway, headers, body, heard);
}

function overHttp1({ port }: Pick<Place, 'port'>, headers: Headers, body: string, heard: Heard): Exchange {
  const request = plainRequest({ port, host: '127.0.0.1', path: '/graphql', method: 'POST', headers });
  let response: IncomingMessage | undefined;
  request.on('error', () => heard.closed());
  request.on('response', (got) => {
    response = got;
    heard.head(got.statusCode ?? 0);
    got.setEncoding('utf8');
    got.on('data', (text: string) => heard.data(text));
    got.on('error', () => undefined);
    got.on('close', () => heard.closed());
  });
  request.end(body);
  return {
    cancel: () => request.destroy(),
    destroy: () => request.destroy(),
    pause: () => response?.pause(),
    resume: () => response?.resume(),
  };
}

function overHttp2({ port }: Pick<Place, 'port'>, headers: Headers, body: string, heard: Heard): Exchange {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, settings: WINDOW });
  session.on('error', () => heard.closed());
  session.on('connect', () => session.setLocalWindowSize(2 * WINDOW.initialWindowSize));
  const stream = session.request({ ...headers, ':method': 'POST', ':path': '/graphql' });
  stream.setEncoding('utf8');
  stream.on('response', ({ ':status': status }) => heard.head(status ?? 0));
  stream.on('data', (text: string) => heard.data(text));
  stream.on('error', () => undefined);
  stream.on('close', () => heard.closed());
  stream.end(body);
  return {
    cancel: () => stream.close(),
    destroy: () => session.destroy(),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
  };
}

/** Sends JSON to any path, over HTTP/1.1. @returns status, headers and body */
export function postJson(
  url: string,
  value: unknown,
  headers: Headers = {},
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: string }> {
  const send = url.startsWith('https:') ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    const request = send(url, { ...options, rejectUnauthorized: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    request.on('error', reject).end(JSON.stringify(value));
  });
}
