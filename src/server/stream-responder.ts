import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RequestedSubscription, Streams } from '../transports/http/streams.ts';
import type { Admission, HttpRefusal } from './admission.ts';
import { refusalBody, sendJson } from './respond.ts';

interface StreamResponderOptions {
  readonly streams: Pick<Streams, 'open'>;
  /** A stream counts as a connection, as a WebSocket does. */
  readonly admission: Pick<Admission, 'refusal' | 'admitted'>;
  /** Why the server accepts no connections at all; undefined: it does. */
  readonly unavailable: () => HttpRefusal | undefined;
}

/** Responds to requests with the results of subscriptions, if this pod accepts connections. */
export class StreamResponder {
  readonly #options: StreamResponderOptions;

  constructor(options: StreamResponderOptions) {
    this.#options = options;
  }

  respond(requested: RequestedSubscription, request: IncomingMessage, response: ServerResponse): void {
    const { streams, admission } = this.#options;
    const body = bodyOf(response);
    if (response.destroyed || body === undefined) return;
    const refusal = this.#refusal(request) ?? streams.open(requested, response, body);
    if (refusal === undefined) {
      admission.admitted(request, response);
      // Bytes written past the stream would not count as traffic.
      request.setTimeout(0);
      return;
    }
    const { status, retryAfter } = refusal;
    const headers = retryAfter === undefined ? {} : { 'retry-after': `${retryAfter}` };
    sendJson(response, status, refusalBody(refusal), headers);
  }

  #refusal(request: IncomingMessage): HttpRefusal | undefined {
    const { admission, unavailable } = this.#options;
    const refusal = unavailable() ?? admission.refusal(request);
    return refusal && { code: 'POD_FULL', ...refusal };
  }
}

/** The stream to which a response is written: its socket, or its HTTP/2 stream. Undefined once the connection is closed. */
function bodyOf(response: ServerResponse): Duplex | undefined {
  const { stream } = response as { readonly stream?: Duplex };
  return stream ?? response.socket ?? undefined;
}
