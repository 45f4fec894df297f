import { hostname } from 'node:os';
import type { OutgoingHttpHeaders } from 'node:http';
import { HttpError } from '../http-error.ts';

/** One recording at a time, of whatever kind: each would show up in what another records. */
export class Recordings {
  #current: string | undefined;

  /** @throws HttpError 409 while another one is under way */
  async alone(name: string, record: () => Promise<void>): Promise<void> {
    if (this.#current !== undefined) {
      throw new HttpError(409, `expected no recording to be under way, but there is one: ${this.#current}`);
    }
    this.#current = name;
    try {
      await record();
    } finally {
      this.#current = undefined;
    }
  }
}

/** Headers of a file to keep. Chrome DevTools tell what a file holds by its extension. */
export function fileHeaders(extension: string): OutgoingHttpHeaders {
  const pod = hostname().replaceAll(/[^\w.-]/g, '-');
  const time = new Date().toISOString().replaceAll(':', '-');
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-disposition': `attachment; filename="${pod}-${time}.${extension}"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
}
