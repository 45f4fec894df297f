import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { mock, test, type TestContext } from 'node:test';
import { buildASTSchema, GraphQLError, Kind } from 'graphql';
import { CloseCode } from 'graphql-ws';
import { WebSocketServer, type WebSocket } from 'ws';
import { parse } from 'yaml';
import { BackendError } from '../../src/backends/error.ts';
import { backendSettings } from '../../src/backends/settings.ts';
import { DEFINITION_PROPERTIES } from '../../src/graph/api/define-graph.ts';
import { withGatewaySchema } from '../../src/graph/directives/definitions.ts';
import { OPERATORS } from '../../src/graph/filter/syntax.ts';
import * as sluice from '../../src/index.ts';
import { channelTable } from '../../src/hub/channel-table.ts';
import { groupTable } from '../../src/hub/group-table.ts';
import { partitionTable } from '../../src/ingest/kafka/partition-table.ts';
import { connectionTable } from '../../src/transports/connections/connection-table.ts';
import { CLOSES } from '../../src/transports/connections/disconnect.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { Page, ROOT, unquoted } from './markdown.ts';

/** Codes below 2000 that a server may close with: RFC 6455, and those that were registered since. */
const WRITTEN_BY_PEERS = [1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014];

const reference = (name: string) => Page.read(`docs/reference/${name}.md`);

test('the close codes are those that the gateway knows, under the labels of its metric', async () => {
  const documented = (await reference('close-codes')).rows().map(([code, label]) => [Number(code), label]);
  const known = CLOSES.toSorted((one, other) => one.code - other.code);
  assert.deepEqual(
    documented,
    known.map(({ code, label }) => [code, label]),
  );
});

test('the tables under /debug/ are sorted by the columns that the reference says', async () => {
  const page = await reference('debug-endpoints');
  const tables = {
    connections: connectionTable(new Set(), () => false, Date.now),
    groups: groupTable(new Map()),
    channels: channelTable(new Map()),
    partitions: partitionTable(undefined),
  };
  for (const [name, { columns }] of Object.entries(tables)) {
    const rows = page.rows(`\`/debug/${name}\``);
    const sorting = rows.filter((row) => row.at(-1) !== '').map(([column = '']) => unquoted(column));
    assert.deepEqual(sorting.toSorted(), columns.toSorted(), name);
  }
});

test('the graphql-ws client reconnects after the close codes for which the reference says so, and after no other', async (t) => {
  const rows = (await reference('close-codes')).rows();
  const outcomes = await Promise.all(
    rows.map(async ([code]) => ((await comesBack(t, Number(code))) ? 'yes' : 'no')),
  );
  assert.deepEqual(
    outcomes,
    rows.map((row) => row.at(-1)),
  );
});

/** A server that closes connections so. @returns its URL */
async function closing(t: TestContext, close: (socket: WebSocket) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  t.after(() => server.close());
  await once(server, 'listening');
  server.on('connection', close);
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Whether the client reconnects when its connection is closed with this code. */
async function comesBack(t: TestContext, code: number): Promise<boolean> {
  let connections = 0;
  const url = await closing(t, (socket) => socket.close((connections += 1) === 1 ? code : 4400));
  const client = graphqlClient(t, url, { retryAttempts: 1, retryWait: async () => {} });
  await new Received(client, '{ __typename }').untilEnd();
  return connections > 1;
}

test('graphql-ws asks `shouldRetry` after the close codes of which the page on clients says so, and after no other', async (t) => {
  const rows = (await Page.read('docs/guides/clients/README.md')).rows('What ends a connection');
  const [asked = [], fatal = []] = [rows.at(0), rows.at(-1)].map((row) =>
    [...(row?.[0] ?? '').matchAll(/\b\d{4}\b/g)].map(([code]) => Number(code)),
  );
  const [from = 0, to = 0] = fatal.splice(0, 2);
  fatal.push(...WRITTEN_BY_PEERS.filter((code) => code >= from && code <= to && !asked.includes(code)));
  const own = Object.values(CloseCode).filter((code) => typeof code === 'number');
  assert.deepEqual(
    own.filter((code) => !asked.includes(code) && !fatal.includes(code)),
    [],
    'each code of graphql-ws itself is in the table',
  );
  assert.deepEqual(await Promise.all(asked.map((code) => isAsked(t, code))), Array(asked.length).fill(true));
  assert.deepEqual(await Promise.all(fatal.map((code) => isAsked(t, code))), Array(fatal.length).fill(false));
});

/** Whether the client asks if it should try again, when its connection is closed with this code. */
async function isAsked(t: TestContext, code: number): Promise<boolean> {
  const url = await closing(t, (socket) => {
    // These two are no codes that are sent, but what a client sees where none has come.
    if (code === 1005) socket.close();
    else if (code === 1006) socket.terminate();
    else socket.close(code);
  });
  const shouldRetry = mock.fn(() => false);
  const client = graphqlClient(t, url, { retryAttempts: 1, shouldRetry });
  const seen = await new Received(client, '{ __typename }').untilEnd();
  assert.equal((seen as { code?: number }).code, code);
  return shouldRetry.mock.callCount() > 0;
}

test('the directives have the arguments and defaults that the reference gives', async () => {
  const page = await reference('directives');
  const schema = buildASTSchema(withGatewaySchema({ kind: Kind.DOCUMENT, definitions: [] }));
  for (const name of ['event', 'filter']) {
    const documented = page
      .rows(`@${name}`)
      .map(([argument, value]) => [unquoted(argument), unquoted(value)]);
    const declared = schema.getDirective(name)?.args ?? [];
    assert.deepEqual(
      documented,
      declared.map((argument) => [argument.name, String(argument.defaultValue ?? '–')]),
    );
  }
});

test('the operators of a filter are those in the guide', async () => {
  const rows = (await Page.read('docs/guides/filters.md')).rows('Operators');
  const documented = rows.flatMap(([operators = '']) => unquoted(operators).split(', '));
  assert.deepEqual(documented, [...OPERATORS, 'and', 'or', 'not']);
});

test('defineGraph takes what the reference lists, and sluice exports what it names', async () => {
  const page = await reference('graph-api');
  const properties = page.rows('defineGraph').map(([property]) => unquoted(property));
  assert.deepEqual(properties.toSorted(), [...DEFINITION_PROPERTIES].toSorted());
  const [, sentence = ''] = /Other exports of `sluice`: ([^.]*), and types\./.exec(page.text) ?? [];
  assert.deepEqual(
    unquoted(sentence).split(', ').toSorted(),
    Object.keys(sluice)
      .filter((name) => name !== 'defineGraph')
      .toSorted(),
  );
});

test('back ends take the properties that the reference lists, with the defaults that it lists', async () => {
  const rows = (await reference('graph-api')).rows('Back ends');
  const settings = rows.slice(
    0,
    rows.findIndex(([name]) => unquoted(name).startsWith('BACKEND_')),
  );
  const faults: string[] = [];
  const defaults = { ...backendSettings('b', { url: 'http://127.0.0.1', ...UNKNOWN }, faults) };
  const [, known = ''] = /expected one of (.*), got/.exec(faults.join('\n')) ?? [];
  assert.deepEqual(settings.map(([name]) => unquoted(name)).toSorted(), known.split(', ').toSorted());
  const numbers = settings.filter(([, value = '']) => /^[\d,]+$/.test(value));
  assert.equal(numbers.length, 8);
  for (const [name, value = ''] of numbers) {
    const setting = unquoted(name) as keyof typeof defaults;
    assert.equal(defaults[setting], Number(value.replaceAll(',', '')), name);
  }
});

/** A property that no back end has: what refuses it lists those that there are. */
const UNKNOWN: object = { unknown: 1 };

test('the error codes of back ends are those of the reference', async () => {
  const rows = (await reference('graph-api')).rows('Back ends').map(([name]) => unquoted(name));
  const documented = rows.filter((name) => name.startsWith('BACKEND_'));
  const source = await readFile(path.join(ROOT, 'src/backends/error.ts'), 'utf8');
  const codes = [...source.matchAll(/^ {2}(BACKEND_\w+): '/gm)].map(([, code]) => code);
  assert.deepEqual(documented, codes);
  for (const code of documented) {
    const error = new BackendError(code as BackendError['code'], 'b');
    assert.ok(error instanceof GraphQLError && !error.message.includes('undefined'), error.message);
  }
});

test('the HTTP endpoints of the reference are those that a gateway lists', async (t) => {
  const page = await reference('http-endpoints');
  const gateway = await startGateway(t, {});
  const ports = {
    'PORT, for browsers': gateway.httpUrl,
    'ADMIN_PORT, for Kubernetes and Prometheus': gateway.adminUrl,
  };
  for (const [heading, url] of Object.entries(ports)) {
    const documented = page.rows(heading).map(([endpoint]) => {
      const [, name = ''] = /^\w+ (\/[\w/-]*)/.exec(unquoted(endpoint)) ?? [];
      return name;
    });
    const response = await fetch(`${url}/no-such-path`);
    const { error } = (await response.json()) as { error: string };
    // GraphiQL's files are part of its page.
    const there = error
      .replace(/^expected one of the paths (.*), got another$/, '$1')
      .split(', ')
      .filter((each) => each !== '/graphiql/');
    assert.deepEqual([...new Set(documented)].toSorted(), there.toSorted(), heading);
  }
});

test('every alert has a line in the page on alerts that says what to do', async () => {
  const { spec } = parse(await readFile(path.join(ROOT, 'deploy/prometheus/alerts.yaml'), 'utf8')) as {
    spec: { groups: { rules: { alert?: string }[] }[] };
  };
  const alerts = spec.groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? []));
  const rows = (await Page.read('docs/operations/alerts.md')).rows();
  assert.deepEqual(
    rows.map(([alert]) => unquoted(alert)),
    alerts,
  );
});
