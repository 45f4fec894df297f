import { request as httpRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../errors.ts';
import { HttpError } from '../server/http-error.ts';
import { workersState, type WorkerState } from '../server/debug/workers.ts';
import { isFromThisMachine, letNeighbourRead } from '../server/loopback.ts';
import { numberParameter } from '../server/number-parameter.ts';
import type { Route } from '../server/router.ts';

/** Request headers that are forwarded, since the worker's own checks read them. */
const FORWARDED = ['accept', 'if-none-match', 'origin', 'sec-fetch-site'];

interface ForwardedTo {
  readonly pid: number | undefined;
  readonly ready: boolean;
  /** 0 while the worker does not listen. */
  readonly adminPort: number;
}

interface Options {
  readonly workers: number;
  /** The worker in a slot, if there is one. */
  readonly workerAt: (slot: number) => ForwardedTo | undefined;
}

/**
 * `/debug/…?worker=`: forwards a request to the debug routes of one worker, whose own port is not known outside;
 * `/debug/workers` lists the workers. Only peers on this machine may use it.
 */
export function debugForward({ workers, workerAt }: Options): readonly Route[] {
  const states = (): WorkerState[] =>
    Array.from({ length: workers }, (_, index) => {
      const worker = workerAt(index + 1);
      return { worker: index + 1, pid: worker?.pid, ready: worker?.ready ?? false };
    });
  const listWorkers = workersState(states);
  return [
    {
      path: '/debug/workers',
      admits: isFromThisMachine,
      methods: {
        GET: (request, response, rest) => {
          letNeighbourRead(request, response);
          return listWorkers(request, response, rest);
        },
      },
    },
    {
      path: '/debug/',
      admits: isFromThisMachine,
      methods: {
        GET: async (request, response) => {
          const slot = numberParameter(request, 'worker', { min: 1, max: workers, default: 1 });
          const port = workerAt(slot)?.adminPort ?? 0;
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
    },
  ];
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
