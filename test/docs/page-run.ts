import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { Kind, parse } from 'graphql';
import type { Client } from 'graphql-ws';
import { loadGraph } from '../../src/graph/loader/load-graph.ts';
import { eventually } from '../helpers/eventually.ts';
import { untilListening, type GatewayProcess } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { Page, type Block } from './markdown.ts';
import { Terminal } from './terminal.ts';
import { Workspace } from './workspace.ts';

/** A gateway that is started by the last line of a block, and the settings in front of the command. */
const SERVE = /^((?:[A-Z_]+=\S+ )*)npm start$/;

/** Ports that are free, and no waiting at the end. */
const DEFAULTS = 'PORT=0 ADMIN_PORT=0 DRAIN_DELAY_SECONDS=0 DRAIN_SECONDS=0';

/** A stream, which has no end: it runs until the page ends. */
const STREAM = /^curl -N /;

const GRAPH = '../my-graph';

/** What a client's program is made of, beside its graph. */
const CLIENT_FILE = /^\.\.\/[\w-]+\.(mjs|jsx)$/;

/** Runs the blocks of one page, in order. CONTRIBUTING.md says what becomes of each language. */
class PageRun {
  readonly #t: TestContext;
  readonly #workspace: Workspace;
  readonly #terminal: Terminal;
  readonly #services: string;
  #hasGraph = false;
  #isChecked = true;
  #gateway: GatewayProcess | undefined;
  #client: Client | undefined;
  /** The client's subscriptions; `next`: the result that the page has yet to show. */
  #subscriptions: { readonly received: Received; next: number }[] = [];

  /** @param services stands for `$(scripts/services up)` */
  constructor(t: TestContext, workspace: Workspace, services: string) {
    this.#t = t;
    this.#workspace = workspace;
    this.#terminal = new Terminal(workspace);
    this.#services = services;
  }

  async run({ language, text, file }: Block): Promise<void> {
    if (file !== undefined)
      return this.#write(file, CLIENT_FILE.test(file) ? await this.#substituted(text) : text);
    if (language === 'graphql' && isSchema(text)) return this.#newGraph(text);
    if (language === 'ts') return this.#write(`${GRAPH}/graph.ts`, text);
    await this.#check();
    switch (language) {
      case 'graphql':
        return this.#operate(text);
      case 'js':
        return this.#startClient(text);
      case 'sh':
        return this.#command(text);
      case 'json':
        return this.#expect(JSON.parse(text));
      case 'text':
        return this.#terminal.untilPrinted(text);
      default:
        throw new Error(`Expected a language that is run, or a mark <!-- not run: … -->, got "${language}".`);
    }
  }

  /** Checks what the page leaves behind: its graph, and that every subscription has got something. */
  async end(): Promise<void> {
    await this.#check();
    await this.#stopGateway();
  }

  async #write(file: string, text: string): Promise<void> {
    await this.#workspace.write(file, text);
    if (file.startsWith(GRAPH)) this.#isChecked = false;
  }

  async #newGraph(schema: string): Promise<void> {
    await this.end();
    await this.#workspace.forget(GRAPH);
    this.#hasGraph = true;
    await this.#write(`${GRAPH}/schema.graphql`, schema);
  }

  /** Once all files of a graph are there. Their types are checked by types.slow.test.ts. */
  async #check(): Promise<void> {
    if (this.#isChecked) return;
    this.#isChecked = true;
    if (this.#hasGraph) await loadGraph(this.#workspace.pathOf(GRAPH), { anew: true });
  }

  async #command(text: string): Promise<void> {
    if (STREAM.test(text)) return this.#subscribeByCommand(await this.#substituted(text));
    const lines = text.split('\n');
    const serve = SERVE.exec(lines.at(-1) ?? '');
    const before = (serve ? lines.slice(0, -1) : lines).join('\n');
    if (before !== '') await this.#terminal.run(await this.#substituted(before));
    if (serve) await this.#serve(serve[1] ?? '');
  }

  async #serve(settings: string): Promise<GatewayProcess> {
    await this.#stopGateway();
    const given = settings.replaceAll(/(?:ADMIN_)?PORT=\d+ /g, '');
    const child = this.#workspace.spawn(`exec env ${DEFAULTS} ${given} node scripts/start.mjs`);
    this.#gateway = await untilListening(child);
    await this.#gateway.untilReady();
    return this.#gateway;
  }

  /** The gateway that the page has started, else one with the page's graph, or the bundled one. */
  async #running(): Promise<GatewayProcess> {
    return this.#gateway ?? this.#serve(this.#hasGraph ? `GRAPH=${GRAPH} ` : '');
  }

  async #stopGateway(): Promise<void> {
    for (const { received } of this.#subscriptions) {
      await received.until(1);
      assert.deepEqual(
        received.results.flatMap(({ errors = [] }) => [...errors]),
        [],
      );
    }
    this.#subscriptions = [];
    await this.#client?.dispose();
    this.#client = undefined;
    await this.#gateway?.stop('SIGINT');
    this.#gateway = undefined;
  }

  async #substituted(text: string): Promise<string> {
    const result = text.replaceAll('$(scripts/services up)', () => this.#services);
    if (!/localhost:400[01]/.test(result)) return result;
    const { port, adminPort } = await this.#running();
    // In one pass: the port that was given may begin with 4001.
    return result.replaceAll(
      /localhost:400([01])/g,
      (_, last) => `localhost:${last === '0' ? port : adminPort}`,
    );
  }

  async #operate(query: string): Promise<void> {
    const gateway = await this.#running();
    const client = (this.#client ??= graphqlClient(this.#t, gateway.graphqlUrl));
    await this.#untilSubscribed(gateway, () =>
      this.#subscriptions.push({ received: new Received(client, query), next: 0 }),
    );
  }

  async #startClient(program: string): Promise<void> {
    await this.#workspace.write('../client.mjs', await this.#substituted(program));
    await this.#subscribeByCommand('exec node --experimental-websocket --no-warnings ../client.mjs');
  }

  async #subscribeByCommand(command: string): Promise<void> {
    await this.#untilSubscribed(await this.#running(), () => this.#terminal.start(command));
  }

  /** What is sent from then on reaches the subscriber. */
  async #untilSubscribed(gateway: GatewayProcess, subscribe: () => unknown): Promise<void> {
    const before = await gateway.metric('sluice_subscribers');
    subscribe();
    await eventually(async () => {
      const subscribers = await gateway.metric('sluice_subscribers');
      assert.equal(subscribers, before + 1, `subscribers; printed: ${this.#terminal.unread}`);
    });
  }

  /** Waits for the next result of the page's last subscription to be this, or for a line that has been printed. */
  async #expect(expected: unknown): Promise<void> {
    const subscription = this.#subscriptions.at(-1);
    await eventually(() => {
      if (this.#terminal.hasPrintedJson(expected)) return;
      const result = subscription?.received.results[subscription.next];
      assert.deepEqual(result, expected, `got ${JSON.stringify(result)}; printed: ${this.#terminal.unread}`);
      if (subscription !== undefined) subscription.next += 1;
    });
  }
}

/** Tries a page from top to bottom, with services of its own names. */
export async function tryPage(t: TestContext, page: Page): Promise<void> {
  const name = `docs-${randomUUID().slice(0, 8)}`;
  const workspace = await Workspace.create(t, { KAFKA_GROUP_ID: name, REDIS_PREFIX: `${name}:` });
  const { KAFKA_BROKERS, REDIS_URL } = process.env;
  const session = new PageRun(t, workspace, `KAFKA_BROKERS=${KAFKA_BROKERS} REDIS_URL=${REDIS_URL}`);
  const others = page.filesOf === undefined ? [] : (await Page.read(page.filesOf)).blocks;
  for (const block of [...others.filter(({ file }) => file !== undefined), ...page.runBlocks]) {
    await session.run(block).catch((cause: Error) => {
      throw new Error(`${page.name}:${block.line}: ${cause.message}`, { cause });
    });
  }
  await session.end();
}

function isSchema(text: string): boolean {
  return parse(text).definitions.every(({ kind }) => kind !== Kind.OPERATION_DEFINITION);
}
