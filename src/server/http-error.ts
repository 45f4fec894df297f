import type { OutgoingHttpHeaders } from 'node:http';

/** The error response to a request that is refused: the client gets the status, and the message as `{"error": …}`. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;

  constructor(status: number, message: string, headers: OutgoingHttpHeaders = {}) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
    this.headers = headers;
  }
}
