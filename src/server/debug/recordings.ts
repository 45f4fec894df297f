import { hostname } from 'node:os';
import type { OutgoingHttpHeaders } from 'node:http';
import { HttpError } from '../http-error.ts';

/** Allows one recording of any kind at a time: a second one would show up in the first one. */
export class Recordings {
  #current: string | undefined;

  /**
   * @param name of the kind of recording, with its article, for the error message
   * @throws HttpError 409 while another recording is in progress
   */
  async alone(name: string, record: () => Promise<void>): Promise<void> {
    if (this.#current !== undefined) {
      throw new HttpError(409, `expected no other recording in progress, got ${this.#current}`);
    }
    this.#current = name;
    try {
      await record();
    } finally {
      this.#current = undefined;
    }
  }
}

/** Headers of a response that browsers save as a file. Chrome DevTools recognise its content by the extension. */
export function fileHeaders(extension: string): OutgoingHttpHeaders {
  const pod = hostname().replaceAll(/[^\w.-]/g, '-');
  const time = new Date().toISOString().replaceAll(':', '-');
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-disposition': `attachment; filename="${pod}-${time}.${extension}"`,
    'cache-control': 'no-store',
  };
}
