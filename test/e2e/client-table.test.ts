import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { after, type TestContext } from 'node:test';
import { apolloPrograms } from '../helpers/clients/apollo.ts';
import type { ClientProgram, Connected, Urls } from '../helpers/clients/client-program.ts';
import { graphqlRequestPrograms } from '../helpers/clients/graphql-request.ts';
import { graphqlSsePrograms } from '../helpers/clients/graphql-sse.ts';
import { graphqlWsPrograms } from '../helpers/clients/graphql-ws.ts';
import { relayPrograms } from '../helpers/clients/relay.ts';
import { legacyPrograms } from '../helpers/clients/subscriptions-transport-ws.ts';
import { urqlPrograms } from '../helpers/clients/urql.ts';
import { PATIENCE_MS } from '../helpers/eventually.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';

const PROGRAMS: readonly ClientProgram[] = [
  ...graphqlWsPrograms,
  ...legacyPrograms,
  ...graphqlSsePrograms,
  ...apolloPrograms,
  ...urqlPrograms,
  ...relayPrograms,
  ...graphqlRequestPrograms,
];

const SCHEMA = `
  type Query { me: String }
  type Subscription {
    said(id: ID): Said @event(topic: "said", key: "id")
    mine: Said @event(topic: "said") @filter(where: { owner: { eq: "$viewer.id" } })
  }
  type Said { id: ID n: Int text: String! owner: String }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    authenticate: ({ user }, { headers }) => ({ id: user ?? headers['x-user'] ?? 'nobody' }),
    resolvers: { Query: { me: (_root, _args, { viewer }) => viewer.id } },
  });
`;

const SAID = 'subscription Said($id: ID) { said(id: $id) { n text } }';

const ROOT = path.join(import.meta.dirname, '../../..');
const PAGE = path.join(ROOT, 'docs/reference/clients.md');

/** What a program was told. */
class Told {
  readonly data: unknown[] = [];
  readonly errors: string[] = [];
  isOver = false;
  readonly #changes = new EventEmitter();

  next({
    data,
    errors = [],
  }: {
    data?: unknown;
    errors?: readonly { readonly message: string }[] | undefined;
  }): void {
    if (data != null) this.data.push(data);
    this.errors.push(...errors.map(({ message }) => message));
    this.#changes.emit('change');
  }

  error(error: unknown): void {
    this.isOver = true;
    const list = Array.isArray(error) ? (error as unknown[]) : [error];
    this.errors.push(...list.map((one) => (one instanceof Error ? one.message : JSON.stringify(one))));
    this.#changes.emit('change');
  }

  complete(): void {
    this.isOver = true;
    this.#changes.emit('change');
  }

  async until(holds: () => boolean): Promise<void> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    while (!holds()) await once(this.#changes, 'change', { signal });
  }
}

interface Row {
  readonly client: string;
  readonly version: string;
  readonly transport: string;
  events?: string;
  errors?: string;
  leaves?: string;
  queries?: string;
  back?: string;
}

const COLUMNS = [
  ['client', 'client'],
  ['version', 'version'],
  ['transport', 'transport'],
  ['events', 'events, in order'],
  ['errors', 'is told errors'],
  ['leaves', 'unsubscribes'],
  ['queries', 'queries'],
  ['back', 'back after its pod was replaced'],
] as const;

/** What this run has shown. */
const rows = new Map<ClientProgram, Row>();

const urlsOf = ({ httpUrl, graphqlUrl }: GatewayProcess): Urls => ({
  http: `${httpUrl}/graphql`,
  webSocket: graphqlUrl,
});

function rowOf({ module, transport }: ClientProgram): Row {
  const manifest = readFileSync(path.join(ROOT, 'node_modules', module, 'package.json'), 'utf8');
  const { name, version } = JSON.parse(manifest) as { name: string; version: string };
  return { client: name, version, transport };
}

async function start(t: TestContext, settings = {}): Promise<GatewayProcess> {
  const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, 'graph.js': GRAPH });
  return startGateway(t, { GRAPH: folder, ...settings });
}

const said = (n: number, text: string) => ({ said: { n, text } });

async function subscribes(row: Row, gateway: GatewayProcess, client: Connected): Promise<void> {
  const told = new Told();
  const stop = client.subscribe?.(SAID, { id: 'a' }, told);
  await gateway.untilMetric('sluice_subscribers', 1);
  const texts = ['x', 'grün, 緑, 😀 "quoted"\n', 'y'.repeat(30_000), ''];
  for (const [n, text] of texts.entries()) {
    await gateway.postEvent('said', { id: 'b', n, text: 'for others' });
    await gateway.postEvent('said', { id: 'a', n, text });
  }
  await told.until(() => told.data.length >= texts.length);
  assert.deepEqual(
    JSON.parse(
      JSON.stringify(told.data, (key, value: unknown) => (key === '__typename' ? undefined : value)),
    ),
    texts.map((text, n) => said(n, text)),
  );
  row.events = 'yes';
  // A null where none may be: an error of the execution.
  await gateway.postEvent('said', { id: 'a', n: 4 });
  await told.until(() => told.errors.length > 0);
  assert.match(told.errors.join(), /Cannot return null|Internal server error/);
  const wrong = new Told();
  client.subscribe?.('subscription { nothing }', {}, wrong);
  await wrong.until(() => wrong.errors.length > 0);
  assert.match(wrong.errors.join(), /Cannot query field/);
  row.errors = 'yes';
  const mine = new Told();
  const stopMine = client.subscribe?.('subscription { mine { n } }', {}, mine);
  await gateway.untilMetric('sluice_subscribers', told.isOver ? 1 : 2);
  for (const [n, owner] of ['ann', 'bob', 'ann'].entries()) await gateway.postEvent('said', { n, owner });
  await mine.until(() => mine.data.length >= 2);
  assert.deepEqual(
    mine.data.map((data) => (data as { mine: { n: number } }).mine.n),
    [0, 2],
  );
  stop?.();
  stopMine?.();
  await gateway.untilMetric('sluice_subscribers', 0);
  row.leaves = 'yes';
}

async function shows(row: Row, gateway: GatewayProcess, client: Connected): Promise<void> {
  if (client.query === undefined) row.queries = '–';
  else {
    const data = await client.query('{ me }');
    assert.equal((data as { me: unknown }).me, 'ann');
    row.queries = 'yes';
  }
  if (client.subscribe === undefined) Object.assign(row, { events: '–', errors: '–', leaves: '–' });
  else await subscribes(row, gateway, client);
}

async function comesBack(t: TestContext, program: ClientProgram): Promise<string> {
  const first = await start(t);
  const client = program.connect(urlsOf(first), 'ann');
  try {
    return await comesBackTo(t, program, first, client);
  } finally {
    // Before its gateway: some clients can't be closed while they look for another one.
    await client.close();
  }
}

async function comesBackTo(
  t: TestContext,
  program: ClientProgram,
  first: GatewayProcess,
  client: Connected,
): Promise<string> {
  const told = new Told();
  client.subscribe?.(SAID, { id: 'a' }, told);
  await first.untilMetric('sluice_subscribers', 1);
  await first.stop();
  if (program.staysAway !== undefined) {
    await told.until(() => told.isOver || told.errors.length > 0);
    return `no: ${program.staysAway}`;
  }
  const second = await start(t, { PORT: String(first.port) });
  await second.untilMetric('sluice_subscribers', 1);
  await second.postEvent('said', { id: 'a', n: 7, text: 'back' });
  await told.until(() => told.data.length > 0);
  return 'yes';
}

for (const program of PROGRAMS) {
  const row = rowOf(program);
  const { client: name, version, transport } = row;

  test(`${name} ${version} over ${transport}`, async (t) => {
    const gateway = await start(t);
    const client = program.connect(urlsOf(gateway), 'ann');
    try {
      await shows(row, gateway, client);
    } finally {
      await client.close();
    }
    row.back = client.subscribe === undefined ? '–' : await comesBack(t, program);
    rows.set(program, row);
  });
}

function table(): string {
  const lines = [...rows.values()].map((row) => `| ${COLUMNS.map(([key]) => row[key]).join(' | ')} |`);
  const titles = COLUMNS.map(([, title]) => title);
  return [`| ${titles.join(' | ')} |`, `|${titles.map(() => '---').join('|')}|`, ...lines].join('\n');
}

const plain = (markdown: string): string =>
  markdown
    .replace(/ *\| */g, '|')
    .replace(/-+/g, '-')
    .trim();

/** Tests of this file run one after the other, this one last. */
test('the table of clients is what these tests have shown', async (t) => {
  if (rows.size < PROGRAMS.length) {
    t.diagnostic('not all programs have run to their end');
    assert.fail('expected a row of each client');
  }
  const page = await readFile(PAGE, 'utf8');
  const [before = '', shown = '', behind = ''] = page.split(/(?<=<!-- clients -->)|(?=<!-- \/clients -->)/);
  if (process.env['UPDATE_TABLES'] === 'true') {
    await writeFile(PAGE, `${before}\n\n${table()}\n\n${behind}`);
    return;
  }
  assert.equal(plain(shown), plain(table()), 'UPDATE_TABLES=true npm test -- e2e/client-table writes it');
});

after(() => rows.clear());
