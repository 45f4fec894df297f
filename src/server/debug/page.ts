import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { send } from '../respond.ts';
import type { Handle } from '../router.ts';
import { StaticFiles } from '../static-files.ts';

const FOLDER = path.join(import.meta.dirname, 'page');
const PAGE = 'page.html';
const FILES = [
  'page.css',
  'controls.css',
  'tables.css',
  'details.css',
  'explain.css',
  'page.js',
  'api.js',
  'chart.js',
  'elements.js',
  'explain.js',
  'explanation.js',
  'figures.js',
  'format.js',
  'metrics.js',
  'overview.js',
  'poller.js',
  'state.js',
  'table-view.js',
  'tables.js',
];

/** Compiled files that the page shares with the command line. */
const SHARED = ['ask.js', 'consumed.js', 'merged.js', 'shown-list.js'].map((name) =>
  path.join(import.meta.dirname, '../../explain', name),
);

/** Content security policy: only the gateway's own files, and requests to pods at ports of this machine. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self' http://localhost:* http://127.0.0.1:*",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `/debug/`: a page that plots `/metrics` and shows tables live, and its files. */
export class DebugPage {
  readonly #page: string;
  readonly #files: StaticFiles;

  private constructor(page: string, files: StaticFiles) {
    this.#page = page;
    this.#files = files;
  }

  /** @throws if the build has not copied the page's files to their folder */
  static async load(): Promise<DebugPage> {
    const page = await readFile(path.join(FOLDER, PAGE), 'utf8');
    const files = FILES.map((name) => path.join(FOLDER, name));
    return new DebugPage(page, await StaticFiles.load([...files, ...SHARED]));
  }

  readonly handle: Handle = (request, response, name) => {
    if (name !== '') return this.#files.handle(request, response, name);
    send(response, 200, 'text/html; charset=utf-8', this.#page, {
      'content-security-policy': POLICY,
      'cache-control': 'no-cache',
    });
  };
}
