import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { build } from 'esbuild';
import { Page } from '../docs/markdown.ts';
import { Workspace } from '../docs/workspace.ts';
import { openPage } from './chromium.ts';
import { serveHttp } from './local-server.ts';
import { compiledForRelay } from './relay-artifact.ts';
import { signToken } from './tokens.ts';

const CLIENTS = 'docs/guides/clients';

/** The functions that readers of the page write themselves. Each call prints a line: `["showBid",{…}]`. */
const standIns = (origin: string): string => `
  const tell = (name) => (what) => console.log(JSON.stringify([name, what]));
  export const freshToken = async () => {
    const response = await fetch('${origin}/token');
    if (!response.ok) throw new Error('no token');
    return response.text();
  };
  export const fetchBids = tell('fetchBids');
  export const showBid = tell('showBid');
  export const showStatus = tell('showStatus');
  export const showError = (error) => tell('showError')(error.message ?? error.type ?? JSON.stringify(error));
`;

/**
 * Runs before the program. Reconnects wait a twentieth of the usual time, half a second at most. A socket that the
 * program closes ends only when the program has connected again, as over a slow network. Refused handshakes and the
 * ends of closed sockets are printed.
 */
const SURROUNDINGS = `
  const { random } = Math;
  Math.random = () => random() / 20;
  const closing = [];
  globalThis.WebSocket = class extends WebSocket {
    #isClosing = false;
    constructor(...options) {
      super(...options);
      this.addEventListener('error', () => console.log('["refused"]'));
      this.addEventListener('open', () => closing.splice(0).forEach((close) => close()));
    }
    get readyState() {
      return this.#isClosing && super.readyState === WebSocket.OPEN ? WebSocket.CLOSING : super.readyState;
    }
    close(...reason) {
      this.#isClosing = true;
      this.addEventListener('close', () => console.log('["closed"]'));
      closing.push(() => super.close(...reason));
    }
  };
`;

type Call = 'showBid' | 'showError' | 'showStatus' | 'fetchBids' | 'refused' | 'closed';

/** The snippets of a page of docs/guides/clients as a program that runs, with the server of its web site. */
export class DocumentedClient {
  /** The origin of the site. */
  readonly origin: string;
  /** How often the program has asked for a token. */
  tokens = 0;
  /** The number of further requests for a token that fail. */
  failingTokens = 0;
  readonly #t: TestContext;
  readonly #calls: (readonly [name: Call, what?: unknown])[] = [];
  readonly #changes = new EventEmitter();
  /** An error of the program itself. */
  #fault: string | undefined;
  #script = '';

  private constructor(t: TestContext, origin: string) {
    this.#t = t;
    this.origin = origin;
  }

  static async create(t: TestContext): Promise<DocumentedClient> {
    const origin = await serveHttp(t, (request, response) => {
      if (request.url === '/token') {
        client.tokens += 1;
        if (client.failingTokens === 0) void signToken({ sub: 'ann' }).then((token) => response.end(token));
        else response.writeHead(503).end(String((client.failingTokens -= 1)));
      } else if (request.url === '/page.js') {
        response.setHeader('content-type', 'text/javascript').end(client.#script);
      } else {
        response.setHeader('content-type', 'text/html');
        response.end('<!doctype html><main id="page"></main><script src="/page.js"></script>');
      }
    });
    const client = new DocumentedClient(t, origin);
    return client;
  }

  /**
   * Runs the program of a page in Node.js.
   *
   * @param port of the gateway
   * @param change changes `connection.mjs`, to show the effect of leaving out a part
   */
  async run(name: string, port: number, change = (connection: string) => connection): Promise<void> {
    const workspace = await this.#write(name, port, change);
    const { name: file, blocks } = await Page.read(`${CLIENTS}/${name}.md`);
    const programs = blocks.filter(({ language, file: of }) => language === 'js' && of === undefined);
    if (programs.length !== 1) throw new Error(`${file}: expected one program, got ${programs.length}.`);
    await workspace.write('../client.mjs', compiledForRelay(programs[0]?.text ?? ''));
    await workspace.write('../surroundings.mjs', SURROUNDINGS);
    const options = '--experimental-websocket --no-warnings --import ../surroundings.mjs';
    const child = workspace.spawn(`exec node ${options} ../client.mjs`);
    createInterface(child.stdout).on('line', (line) => this.#take(line));
    child.stderr.on('data', (chunk: Buffer) => this.#fail(chunk.toString()));
    child.once('exit', (code) => this.#fail(`the program ended with ${code}`));
  }

  /** Opens a component of a page in Chromium, in which effects run twice, as in development. Needs 'chromium'. */
  async render(name: string, port: number, component: string): Promise<void> {
    const workspace = await this.#write(name, port);
    await workspace.write(
      '../main.jsx',
      `import { StrictMode } from 'react';
       import { createRoot } from 'react-dom/client';
       import { Page } from './${component}';
       createRoot(document.querySelector('#page')).render(<StrictMode><Page /></StrictMode>);`,
    );
    const { outputFiles } = await build({
      entryPoints: [workspace.pathOf('../main.jsx')],
      bundle: true,
      preserveSymlinks: true,
      jsx: 'automatic',
      write: false,
    });
    this.#script = outputFiles[0]?.text ?? '';
    const page = await openPage(this.#t);
    page.on('pageerror', (error) => this.#fail(String(error)));
    page.on('console', (message) => message.type() === 'log' && this.#take(message.text()));
    await page.addInitScript(SURROUNDINGS);
    await page.goto(this.origin);
  }

  /** Returns the arguments of all calls so far. */
  calls(name: Call): unknown[] {
    return this.#calls.filter(([each]) => each === name).map(([, what]) => what);
  }

  /** @param options.despiteErrors keeps waiting if errors have been shown */
  async untilCalled(name: Call, times: number, { despiteErrors = name === 'showError' } = {}): Promise<void> {
    while (this.calls(name).length < times) {
      const [error] = despiteErrors ? [] : this.calls('showError');
      const fault = error ?? this.#fault;
      if (fault !== undefined) {
        const calls = this.#calls.map((call) => JSON.stringify(call)).join('\n');
        throw new Error(`expected ${times} calls of ${name}, got ${String(fault)} after\n${calls}`);
      }
      await once(this.#changes, 'change');
    }
  }

  /** Writes the files of the page and of the pages that it imports. */
  async #write(name: string, port: number, change = (connection: string) => connection): Promise<Workspace> {
    const workspace = await Workspace.create(this.#t, {});
    const pages = [await Page.read(`${CLIENTS}/README.md`), await Page.read(`${CLIENTS}/${name}.md`)];
    for (const { file, text } of pages.flatMap(({ blocks }) => blocks)) {
      if (file === undefined) continue;
      const code = text.replaceAll('localhost:4000', `127.0.0.1:${port}`);
      await workspace.write(file, file === '../connection.mjs' ? change(code) : code);
    }
    await workspace.write('../page.mjs', standIns(this.origin));
    return workspace;
  }

  #take(line: string): void {
    this.#calls.push(JSON.parse(line) as [Call, unknown]);
    this.#changes.emit('change');
  }

  #fail(fault: string): void {
    this.#fault ??= fault;
    this.#changes.emit('change');
  }
}
