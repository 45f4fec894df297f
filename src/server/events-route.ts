import type { IncomingMessage } from 'node:http';
import { SluiceError } from '../errors.ts';
import { readBody } from './body.ts';
import { HttpError } from './http-error.ts';
import { isFromThisMachine } from './loopback.ts';
import type { OriginCheck } from './origin-check.ts';
import { sendJson } from './respond.ts';
import { queryOf, type Route } from './router.ts';

export interface EventsOptions {
  /** By name: the topics that the graph shows. */
  readonly topics: ReadonlyMap<string, unknown>;
  /**
   * Takes an event in as if Kafka had brought it.
   *
   * @param value as it would stand in Kafka
   * @param key the Kafka key, if there is one
   * @throws SluiceError UNDECODABLE
   */
  readonly accept: (topic: string, value: Buffer, key: string | undefined) => Promise<void>;
  /** `EVENTS_FROM_ANYWHERE`. */
  readonly fromAnywhere: boolean;
}

const PATH = '/events/';

/**
 * `POST /events/<topic>`, with the Kafka key as `?key=`: one event by hand.
 *
 * Whoever can send here can tell subscribers anything, so by default only this machine may; a proxy on it that can't
 * be told from a user must keep `/events/` to itself. A page in this machine's browser speaks for its author, and is
 * told by Origin and by a content type that pages can't send without asking.
 */
export function eventsRoute(options: EventsOptions, originCheck: OriginCheck, maxBytes: number): Route {
  const { topics, accept, fromAnywhere } = options;
  return {
    path: PATH,
    methods: {
      POST: async (request, response, rest) => {
        if (!fromAnywhere) demandThisMachine(request);
        originCheck.demand(request.headers);
        demandType(request);
        const topic = decode(rest);
        if (topic === undefined || !topics.has(topic)) {
          throw new HttpError(
            404,
            `expected a topic of the graph (${[...topics.keys()].join(', ')}), got ${JSON.stringify(topic ?? rest)}`,
          );
        }
        const value = await readBody(request, maxBytes);
        try {
          await accept(topic, value, queryOf(request).get('key') ?? undefined);
        } catch (error) {
          if (error instanceof SluiceError && error.code === 'UNDECODABLE') {
            throw new HttpError(400, error.message);
          }
          throw error;
        }
        sendJson(response, 202, { accepted: topic });
      },
    },
  };
}

function demandThisMachine(request: IncomingMessage): void {
  if (isFromThisMachine(request)) return;
  throw new HttpError(
    403,
    'events are taken from this machine, at localhost, only; EVENTS_FROM_ANYWHERE=true takes them from any peer',
  );
}

/** Bytes, for topics that a graph decodes itself, are no more than JSON what a page may send without asking. */
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
