import { request as httpRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../errors.ts';
import { HttpError } from '../server/http-error.ts';
import { isFromThisMachine } from '../server/loopback.ts';
import { numberParameter } from '../server/number-parameter.ts';
import type { Route } from '../server/router.ts';

/** Request headers that are forwarded, since the worker's own checks read them. */
const FORWARDED = ['accept', 'if-none-match', 'sec-fetch-site'];

interface Options {
  readonly workers: number;
  /** Admin port of the worker in a slot; 0 or undefined while none listens there. */
  readonly adminPort: (slot: number) => number | undefined;
}

/**
 * `/debug/…?worker=`: forwards a request to the debug routes of one worker, whose own port is not known outside. Only
 * peers on this machine may use it.
 */
export function debugForward({ workers, adminPort }: Options): Route {
  return {
    path: '/debug/',
    admits: isFromThisMachine,
    methods: {
      GET: async (request, response) => {
        const slot = numberParameter(request, 'worker', { min: 1, max: workers, default: 1 });
        const port = adminPort(slot) ?? 0;
        if (port === 0) throw new HttpError(503, `worker ${slot} does not listen`);
        // A client that disconnects ends the recording in the worker.
        const closed = new AbortController();
        response.once('close', () => closed.abort());
        const forwarded = await forward(request, port, closed.signal).catch((error: unknown) => {
          throw new HttpError(502, `worker ${slot} does not respond: ${messageOf(error)}`);
        });
        // Without the headers that describe the connection to the worker.
        const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...headers } = forwarded.headers;
        response.writeHead(forwarded.statusCode ?? 502, headers);
        await pipeline(forwarded, response);
      },
    },
  };
}

async function forward(
  { method, url, headers }: IncomingMessage,
  port: number,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const forwarded = Object.fromEntries(
    FORWARDED.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
  // No agent: a keep-alive connection might outlive the worker.
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    method,
    path: url,
    headers: forwarded,
    agent: false,
    signal,
  });
  // An error before the response rejects `once`; a later one ends the response's stream.
  request.on('error', () => undefined).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}
