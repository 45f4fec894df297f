import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { HttpError } from './http-error.ts';
import type { Handle } from './router.ts';

interface StaticFile {
  readonly path: string;
  readonly size: number;
  readonly etag: string;
  readonly contentType: string;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/**
 * Serves a fixed list of files. A requested name is looked up in the list and never joined to a folder, so no other
 * file can be read. Files are read at each request and not kept in memory.
 */
export class StaticFiles {
  readonly #files: ReadonlyMap<string, StaticFile>;

  private constructor(files: ReadonlyMap<string, StaticFile>) {
    this.#files = files;
  }

  /** @param paths absolute paths of the files; each is served under its base name */
  static async load(paths: readonly string[]): Promise<StaticFiles> {
    const files = await Promise.all(paths.map(describe));
    return new StaticFiles(new Map(files.map((file) => [path.basename(file.path), file])));
  }

  readonly handle: Handle = async (request, response, name) => {
    const file = this.#files.get(name);
    if (file === undefined) throw new HttpError(404, 'no such file');
    const caching = { etag: file.etag, 'cache-control': 'no-cache' };
    if (request.headers['if-none-match'] === file.etag) {
      response.writeHead(304, caching).end();
      return;
    }
    response.writeHead(200, {
      ...caching,
      'content-type': file.contentType,
      'content-length': file.size,
    });
    await pipeline(createReadStream(file.path), response);
  };
}

async function describe(file: string): Promise<StaticFile> {
  const content = await readFile(file);
  return {
    path: file,
    size: content.length,
    etag: `"${createHash('sha256').update(content).digest('base64url')}"`,
    contentType: CONTENT_TYPES[path.extname(file)] ?? 'application/octet-stream',
  };
}
