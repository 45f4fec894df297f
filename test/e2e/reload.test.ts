import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { postJson } from '../helpers/http-exchange.ts';
import { range, sorted } from '../helpers/numbers.ts';
import { ReloadedGraph } from '../helpers/reloaded-graph.ts';
import { ResumingClient } from '../helpers/resuming-client.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { post } from './graph-gateway.ts';

const RELOADS = 10;

const SCHEMA = `
  type Subscription {
    item(id: [ID!]): Item @event(topic: "items", key: "id", history: { size: 1000 })
    cheap(below: Int! = 10): Item
      @event(topic: "items")
      @filter(where: { price: { lt: "$below" } })
      @delivery(onSlow: CONFLATE, conflateBy: "id")
    dear: Item @event(topic: "items") @filter(where: { price: { gt: 5 } })
    open: Item @event(topic: "items")
    note: Note @event(topic: "notes")
  }
  type Query { version: String }
  type Item { id: ID! n: Int! price: Int version: Int slow_version: Int }
  type Note { n: Int! text: String }`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  import { setTimeout as passes } from 'node:timers/promises';
  import { VERSION } from './version.ts';
  export default defineGraph({
    resolvers: {
      Query: { version: () => String(VERSION) },
      Item: {
        version: () => VERSION,
        slow_version: async (item) => { await passes(item.n % 3 === 0 ? 20 : 1); return VERSION; },
      },
    },
  });`;

const version = (number: number): Record<string, string> => ({
  'version.ts': `export const VERSION: number = ${number};`,
});

const FILES = { 'schema.graphql': SCHEMA, 'graph.ts': GRAPH, ...version(0) };

let inForce: ReloadedGraph;

const gatewayOf = sharedGateway(async (scope) => {
  inForce = await ReloadedGraph.of(scope, FILES);
  return startGateway(scope, { GRAPH: inForce.folder });
});

/** The graph is as it is written above. */
async function start(t: TestContext) {
  const first = await gatewayOf();
  await inForce.reload(first, FILES);
  // Counters begin behind it.
  const gateway = await gatewayOf();
  return { graph: inForce, gateway, client: graphqlClient(t, gateway.graphqlUrl) };
}

/** Numbered events, one after the other, until it is stopped. */
class Stream {
  sent = 0;
  #isRunning = true;
  readonly #done: Promise<void>;

  constructor(t: TestContext, gateway: GatewayProcess) {
    this.#done = this.#run(gateway);
    t.after(() => this.stop());
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await this.#done;
  }

  async #run(gateway: GatewayProcess): Promise<void> {
    while (this.#isRunning) {
      const n = this.sent;
      await gateway.postEvent('items', { id: n % 4, n, price: n % 20 });
      this.sent += 1;
      await passes(1);
    }
  }
}

const versionByPost = async (gateway: GatewayProcess): Promise<unknown> =>
  ((await post(gateway, { query: '{ version }' })) as { data: { version: unknown } }).data.version;

type Item = { readonly n: number; readonly version?: number; readonly slow_version?: number };

const itemsOf = ({ results }: Received): Item[] =>
  results.map(({ data, errors }) => {
    assert.equal(errors, undefined);
    return Object.values(data ?? {})[0] as Item;
  });

/** Never less than the one before. */
const assertRising = (versions: readonly number[]): void => assert.deepEqual(versions, sorted(versions));

test('through ten reloads in a steady stream each client gets each event once and in order, by the newest graph', async (t) => {
  const { graph, gateway, client } = await start(t);
  const odd = 'subscription ($id: [ID!]) { item(id: $id) { n version } }';
  const kinds: readonly [Received, (n: number) => boolean][] = [
    [new Received(client, 'subscription { item { n version } }'), () => true],
    [new Received(client, 'subscription { item { n slow_version } }'), () => true],
    [new Received(client, odd, { id: ['1', '3'] }), (n) => n % 2 === 1],
    [new Received(client, 'subscription { cheap { n version } }'), (n) => n % 20 < 10],
  ];
  const [[all]] = kinds as [(typeof kinds)[0]];
  await gateway.untilMetric('sluice_subscribers', kinds.length);
  const stream = new Stream(t, gateway);
  const resuming = [
    new ResumingClient(t, 'subscription { item { n slow_version } }'),
    new ResumingClient(t, odd, { id: ['2'] }),
  ];
  for (let times = 1; times <= RELOADS; times += 1) {
    const coming = Promise.all(resuming.map((one) => one.connect(gateway.graphqlUrl)));
    await graph.reload(gateway, version(times));
    await coming;
    assert.equal(await versionByPost(gateway), String(times));
    // They miss some, and resume while the next reload is under way.
    if (times < RELOADS) for (const one of resuming) one.cut();
  }
  await all.until(all.results.length + 20);
  await stream.stop();
  const sent = range(0, stream.sent);
  for (const [received, isDue] of kinds) {
    const due = sent.filter(isDue);
    const items = itemsOf(await received.until(due.length));
    assert.equal(received.end, undefined);
    assert.deepEqual(
      items.map(({ n }) => n),
      due,
    );
    assertRising(items.map((item) => item.version ?? 0));
  }
  assert.equal(itemsOf(all).at(-1)?.version, RELOADS);
  for (const [index, one] of resuming.entries()) {
    assert.deepEqual([...new Set(one.greetings)], [true]);
    assert.equal(one.gaps, 0);
    const due = sent.filter((n) => n >= Number(one.values('n')[0]) && (index === 0 || n % 4 === 2));
    await one.until(() => one.values('n').at(-1) === due.at(-1));
    assert.deepEqual(one.values('n'), due);
  }
  assert.equal(await gateway.metric('sluice_graph_reloads_total{outcome="done"}'), RELOADS);
});

test('a subscription whose field means something else now ends and says so; the others go on', async (t) => {
  const { graph, gateway, client } = await start(t);
  const subscribe = (query: string): Received => new Received(client, `subscription { ${query} }`);
  const stays = subscribe('item { n }');
  const ends = new Map([
    [subscribe('item { n price }'), /Cannot query field "price"/],
    [subscribe('note { n }'), /The events of note come from another topic\./],
    [subscribe('cheap { n }'), /An argument of cheap has another default\./],
    [subscribe('dear { n }'), /The filter of dear is another one\./],
    [subscribe('open { n }'), /Other viewers may subscribe to open\./],
    [subscribe('item { version }'), /The type of version is another one\./],
  ]);
  await gateway.untilMetric('sluice_subscribers', 1 + ends.size);
  const changed = SCHEMA.replace('"notes"', '"remarks"')
    .replaceAll('price:', 'cost:')
    .replace('= 10', '= 11')
    .replace('gt: 5', 'gte: 5')
    .replace(
      'open: Item @event(topic: "items")',
      'open: Item @event(topic: "items") @auth(requires: "admin")',
    )
    .replace(' version: Int', ' version: String');
  const authenticate = GRAPH.replace('resolvers:', 'authenticate: () => ({ role: "admin" }), resolvers:');
  await graph.reload(gateway, { 'schema.graphql': changed, 'graph.ts': authenticate });
  for (const [received, message] of ends) {
    const [error] = (await received.untilEnd()) as { message: string; extensions: unknown }[];
    assert.deepEqual(error?.extensions, { code: 'GRAPH_CHANGED' });
    assert.match(error.message, /^The graph has changed, and this subscription does not hold any more\./);
    assert.match(error.message, message);
  }
  await gateway.untilMetric('sluice_subscribers', 1);
  assert.equal(await gateway.metric('sluice_groups'), 1);
  await gateway.postEvent('items', { id: 1, n: 7 });
  await stays.until(1);
  const again = subscribe('note { n }');
  await gateway.untilMetric('sluice_subscribers', 2);
  await gateway.postEvent('remarks', { n: 8 });
  assert.deepEqual((await again.until(1)).data, [{ note: { n: 8 } }]);
  assert.equal((await postJson(`${gateway.httpUrl}/events/notes`, {})).status, 404);
});

test('what a schema says in another way, or of other fields, changes no subscription', async (t) => {
  const { graph, gateway, client } = await start(t);
  const cheap = new Received(client, 'subscription { cheap { n } }');
  const open = new Received(client, 'subscription { open { n } }');
  await gateway.untilMetric('sluice_subscribers', 2);
  const changed = SCHEMA.replace('{ price: { lt: "$below" } }', '{ \n # cheaper\n price: { lt: "$below" } }')
    .replace('note: Note', 'note(of: ID! = 1): Note')
    .replace('text: String', 'words: String')
    .replace('size: 1000', 'size: 10')
    .replace('CONFLATE, conflateBy: "id"', 'CONFLATE conflateBy: "id"')
    .replace(
      'open: Item @event(topic: "items")',
      'open: Item @event(topic: "items") @delivery(onSlow: DISCONNECT)',
    );
  await graph.reload(gateway, { 'schema.graphql': `${changed}\n type Other { n: Int }` });
  await gateway.postEvent('items', { id: 1, n: 7, price: 1 });
  assert.deepEqual((await cheap.until(1)).data, [{ cheap: { n: 7 } }]);
  assert.deepEqual((await open.until(1)).data, [{ open: { n: 7 } }]);
});

const BROKEN: Readonly<Record<string, Record<string, string>>> = {
  'a syntax error of the schema': { 'schema.graphql': 'type Subscription {' },
  'a resolver without a field': { 'graph.ts': GRAPH.replace('slow_version', 'fast_version') },
  'an import that throws': { 'version.ts': 'throw new Error("on purpose"); export const VERSION = 9;' },
  'a back end without a URL': {
    'graph.ts': GRAPH.replace('resolvers:', 'backends: { b: { url: undefined } }, resolvers:'),
  },
};

test('a graph that can not be used changes nothing, and each of its faults is told', async (t) => {
  const { graph, gateway, client } = await start(t);
  const received = new Received(client, 'subscription { item { n version } }');
  await gateway.untilMetric('sluice_subscribers', 1);
  let count = 0;
  for (const [what, files] of Object.entries(BROKEN)) {
    const { length } = gateway.lines;
    await graph.reloadInVain(gateway, files);
    const told = gateway.lines.slice(length).filter(({ level }) => level === 50);
    const faults = told.at(-1)?.['faults'];
    assert.ok(Number(faults) > 0 && told.length === Number(faults) + 1, `${what}: ${JSON.stringify(told)}`);
    count += 1;
    assert.equal(await gateway.metric('sluice_graph_reloads_total{outcome="refused"}'), count);
    await gateway.postEvent('items', { id: 1, n: count });
    await received.until(count);
    assert.equal(await versionByPost(gateway), '0', what);
    await graph.write(FILES);
  }
  assert.deepEqual(
    itemsOf(received).map((item) => item.version),
    Object.keys(BROKEN).map(() => 0),
  );
  await graph.reload(gateway, version(1));
  assert.equal(await versionByPost(gateway), '1');
});

test('subscribers that share executions share them by the new graph, with those who come later', async (t) => {
  const { graph, gateway, client } = await start(t);
  const query = 'subscription { item { n version } }';
  const before = Array.from({ length: 10 }, () => new Received(client, query));
  await gateway.untilMetric('sluice_subscribers', 10);
  await gateway.postEvent('items', { id: 1, n: 0 });
  await graph.reload(gateway, version(1));
  const after = Array.from({ length: 10 }, () => new Received(client, query));
  await gateway.untilMetric('sluice_subscribers', 20);
  assert.equal(await gateway.metric('sluice_groups'), 1);
  const executions = await gateway.metric('sluice_executions_total');
  await gateway.postEvent('items', { id: 1, n: 1 });
  for (const one of after) assert.deepEqual((await one.until(1)).data, [{ item: { n: 1, version: 1 } }]);
  for (const one of before) assert.deepEqual((await one.until(2)).data[1], { item: { n: 1, version: 1 } });
  assert.equal((await gateway.metric('sluice_executions_total')) - executions, 1);
  before.concat(after).forEach(({ stop }) => stop());
  await gateway.untilMetric('sluice_groups', 0);
});

test('an event under way is finished by the graph that it began with, and the next one waits for it', async (t) => {
  const { graph, gateway, client } = await start(t);
  const held = GRAPH.replace('await passes(item.n % 3 === 0 ? 20 : 1);', 'await passes(300);');
  await graph.reload(gateway, { 'graph.ts': held });
  const received = new Received(client, 'subscription { item { n slow_version } }');
  await gateway.untilMetric('sluice_subscribers', 1);
  await gateway.postEvent('items', { id: 1, n: 0 });
  await graph.reload(gateway, {
    'graph.ts': GRAPH.replace('await passes(item.n % 3 === 0 ? 20 : 1);', ''),
    ...version(1),
  });
  await gateway.postEvent('items', { id: 1, n: 1 });
  assert.deepEqual(itemsOf(await received.until(2)), [
    { n: 0, slow_version: 0 },
    { n: 1, slow_version: 1 },
  ]);
});

test('a topic is decoded by the new graph from the next message on', async (t) => {
  const { graph, gateway, client } = await start(t);
  const received = new Received(client, 'subscription { note { n } }');
  await gateway.untilMetric('sluice_subscribers', 1);
  await gateway.postEvent('notes', { n: 1 });
  const decode = 'decode: { notes: ({ value }) => ({ n: JSON.parse(value.toString()).n * 10 }) }, resolvers:';
  await graph.reload(gateway, { 'graph.ts': GRAPH.replace('resolvers:', decode) });
  await gateway.postEvent('notes', { n: 2 });
  assert.deepEqual((await received.until(2)).data, [{ note: { n: 1 } }, { note: { n: 20 } }]);
});

test('a subscription ends when a graph takes the history from its topic, and the next one is told that it has none', async (t) => {
  const { graph, gateway, client } = await start(t);
  const received = new Received(client, 'subscription { item { n } }');
  await gateway.untilMetric('sluice_subscribers', 1);
  await graph.reload(gateway, { 'schema.graphql': SCHEMA.replace(', history: { size: 1000 }', '') });
  const [error] = (await received.untilEnd()) as { message: string; extensions: unknown }[];
  assert.deepEqual(error?.extensions, { code: 'GRAPH_CHANGED' });
  assert.match(error.message, /The events of item are not kept any more\./);
  const next = new ResumingClient(t, 'subscription { item { n } }');
  await next.connect(gateway.graphqlUrl);
  assert.deepEqual(next.greetings, [false]);
});

test('history that a graph adds to a topic holds for subscribers who were there before', async (t) => {
  const { graph, gateway } = await start(t);
  const without = SCHEMA.replace(', history: { size: 1000 }', '');
  await graph.reload(gateway, { 'schema.graphql': without });
  const client = new ResumingClient(t, 'subscription { item { n } }');
  await client.connect(gateway.graphqlUrl);
  await graph.reload(gateway, { 'schema.graphql': SCHEMA });
  await gateway.postEvent('items', { id: 1, n: 1 });
  await client.until(({ length }) => length === 1);
  client.cut();
  await gateway.postEvent('items', { id: 1, n: 2 });
  await client.connect(gateway.graphqlUrl);
  await client.until(({ length }) => length === 2);
  assert.deepEqual(client.values('n'), [1, 2]);
  assert.deepEqual(client.greetings, [false, true]);
});
