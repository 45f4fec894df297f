import type { IncomingMessage } from 'node:http';
import { SluiceError } from '../errors.ts';
import type { ByteSource } from '../support/byte-budget.ts';
import { givenTrace, type GivenTrace } from '../tracing/traceparent.ts';
import { readBody } from './body.ts';
import { HttpError } from './http-error.ts';
import { isFromThisMachine } from './loopback.ts';
import type { OriginCheck } from './origin-check.ts';
import { sendJson } from './respond.ts';
import { retryAfter } from './retry-after.ts';
import { pathOf, queryOf, type Route } from './router.ts';

export interface EventsOptions {
  /** Names and patterns of the graph's topics. Read for each request: the graph may be replaced. */
  readonly topics: () => readonly string[];
  /** Whether a field of the graph shows the topic. */
  readonly shows: (topic: string) => boolean;
  /**
   * Processes an event like a message consumed from Kafka.
   *
   * @param value the message's value
   * @param key the message's key, if it has one
   * @param stated.headers of the message: the request's headers that identify its trace
   * @throws SluiceError UNDECODABLE
   */
  readonly accept: (
    topic: string,
    value: Buffer,
    key: string | undefined,
    stated: { readonly headers: GivenTrace },
  ) => Promise<void>;
  /** The bytes for bodies in this process. An owner is a connection. */
  readonly bodies: Pick<ByteSource, 'reserve' | 'mostOfOwner'>;
  /** `EVENTS_FROM_ANYWHERE`. */
  readonly fromAnywhere: boolean;
  /** Why no events are accepted at the moment; undefined if they are. */
  readonly refusal?: () => string | undefined;
}

const PATH = '/events/';

/**
 * `POST /events/<topic>`, with the Kafka key as `?key=`: publishes one event without Kafka.
 *
 * A peer that may send here can send subscribers any event, so by default only peers on this machine may. A proxy on
 * this machine that adds no headers by which it is recognised must not forward `/events/`. Requests of web pages in a
 * browser on this machine are refused by their Origin, and by the content type, which needs a preflight request.
 */
export function eventsRoute(options: EventsOptions, originCheck: OriginCheck, maxBytes: number): Route {
  const { accept, bodies, fromAnywhere, refusal } = options;
  return {
    path: PATH,
    methods: {
      POST: async (request, response, rest) => {
        if (!fromAnywhere) demandThisMachine(request);
        originCheck.demand(request.headers);
        demandType(request);
        const topic = decode(rest);
        const { topics, shows } = options;
        if (topic === undefined || !shows(topic)) {
          throw new HttpError(
            404,
            `expected a topic of the graph (${topics().join(', ')}), got ${JSON.stringify(topic ?? rest)}`,
          );
        }
        const busy = refusal?.();
        if (busy !== undefined)
          throw new HttpError(503, busy, { 'retry-after': String(retryAfter(Math.random)) });
        const length = Number(request.headers['content-length'] ?? maxBytes);
        const most = Math.min(length, maxBytes, bodies.mostOfOwner);
        const left = new AbortController();
        response.once('close', () => left.abort());
        const reservation = await bodies.reserve(most, request.socket, left.signal);
        try {
          const value = await readBody(request, maxBytes);
          const headers = givenTrace(request.headers);
          await accept(topic, value, queryOf(request).get('key') ?? undefined, { headers });
        } catch (error) {
          if (error instanceof SluiceError && error.code === 'UNDECODABLE') {
            throw new HttpError(400, error.message);
          }
          throw error;
        } finally {
          reservation.release();
        }
        sendJson(response, 202, { accepted: topic });
      },
    },
  };
}

/** Tells a client that tries `POST /events/<topic>` why it does not exist; for other requests the path is unknown. */
export const noEventsRoute: Route = {
  path: PATH,
  admits: (request) => request.method === 'POST' && pathOf(request).startsWith(PATH),
  methods: {
    POST: () => {
      throw new HttpError(
        404,
        'expected neither KAFKA_BROKERS nor Redis to be set for events by POST, got one of them: events come from Kafka or from other pods here',
      );
    },
  },
};

function demandThisMachine(request: IncomingMessage): void {
  if (isFromThisMachine(request)) return;
  throw new HttpError(
    403,
    'expected a request from this machine to localhost, got another one; EVENTS_FROM_ANYWHERE=true accepts events from any peer',
  );
}

/** Demands JSON, or bytes for topics that a graph decodes: a web page can send neither without a preflight request. */
function demandType({ headers }: IncomingMessage): void {
  const type = headers['content-type'] ?? '';
  if (/^application\/(json|octet-stream)\s*(;|$)/i.test(type)) return;
  const got = type === '' ? 'none' : type;
  throw new HttpError(415, `expected content-type application/json, or application/octet-stream, got ${got}`);
}

function decode(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
