import { request as ask, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../errors.ts';
import { HttpError } from '../server/http-error.ts';
import { isFromThisMachine } from '../server/loopback.ts';
import { numberParameter } from '../server/number-parameter.ts';
import type { Route } from '../server/router.ts';

/** What says who asks and for what; the worker looks at it as if it had been asked itself. */
const PASSED_ON = ['accept', 'if-none-match', 'sec-fetch-site'];

interface Options {
  readonly workers: number;
  /** Of the worker in that place; 0 or undefined while there is none that listens. */
  readonly adminPort: (place: number) => number | undefined;
}

/** `/debug/…?worker=`: a look inside one of the workers, by way of the port that is known. For this machine only, too. */
export function debugForward({ workers, adminPort }: Options): Route {
  return {
    path: '/debug/',
    admits: isFromThisMachine,
    methods: {
      GET: async (request, response) => {
        const place = numberParameter(request, 'worker', { min: 1, max: workers, default: 1 });
        const port = adminPort(place) ?? 0;
        if (port === 0) throw new HttpError(503, `worker ${place} does not listen`);
        // A recording ends when whoever wants it has left.
        const left = new AbortController();
        response.once('close', () => left.abort());
        const answer = await askWorker(request, port, left.signal).catch((error: unknown) => {
          throw new HttpError(502, `worker ${place} does not answer: ${messageOf(error)}`);
        });
        // Of this connection, not of that one.
        const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...headers } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, headers);
        await pipeline(answer, response);
      },
    },
  };
}

async function askWorker(
  { method, url, headers }: IncomingMessage,
  port: number,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const passed = Object.fromEntries(
    PASSED_ON.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
  // No agent: a connection that is kept would outlive the worker.
  const asked = ask({ host: '127.0.0.1', port, method, path: url, headers: passed, agent: false, signal });
  // Before the answer, `once` sees it; afterwards the answer itself ends with it.
  asked.on('error', () => undefined).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}
