import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { runCli, startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import type { Scope } from '../helpers/scope.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { post } from './graph-gateway.ts';

const ITEMS = 'subscription Items { item { n } }';
const NAME = 'query Name { __typename }';

/** A graph's folder with a manifest in it. */
async function folderWith(scope: Scope, manifest: object): Promise<Record<string, string>> {
  const folder = await graphFolder(scope, { 'schema.graphql': itemSchema('items') });
  const file = path.join(folder, 'manifest.json');
  await writeFile(file, JSON.stringify(manifest));
  return { GRAPH: folder, PERSISTED_DOCUMENTS: file };
}

const apolloManifest = {
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [
    { id: 'items-1', name: 'Items', type: 'subscription', body: ITEMS },
    { id: 'name-1', name: 'Name', type: 'query', body: NAME },
  ],
};

const open = sharedGateway(async (scope) => startGateway(scope, await folderWith(scope, apolloManifest)));
const closed = sharedGateway(async (scope) =>
  startGateway(scope, {
    ...(await folderWith(scope, { 'items-1': ITEMS, 'name-1': NAME })),
    PERSISTED_DOCUMENTS_ONLY: 'true',
  }),
);

const byHash = (sha256Hash: string): object => ({
  extensions: { persistedQuery: { version: 1, sha256Hash } },
});
const refusal = (code: string, message = expectedMessage(code)) => ({
  errors: [{ message, extensions: { code } }],
});

function expectedMessage(code: string): string {
  return code === 'PERSISTED_QUERY_NOT_FOUND'
    ? 'PersistedQueryNotFound'
    : 'expected the id of a persisted document (documentId or extensions.persistedQuery), got a text';
}

test('subscriptions by id, by hash and by text share one group, and its execution', async (t) => {
  const gateway = await open();
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  socket.send(
    { type: 'subscribe', id: 'document-id', payload: { documentId: 'items-1' } },
    { type: 'subscribe', id: 'hash', payload: byHash('items-1') },
    { type: 'subscribe', id: 'both', payload: { query: ITEMS, ...byHash('items-1') } },
    { type: 'subscribe', id: 'text', payload: { query: ITEMS } },
  );
  const client = graphqlClient(t, gateway.graphqlUrl);
  const received = new Received(client, '', {}, { persistedQuery: { version: 1, sha256Hash: 'items-1' } });
  await gateway.untilMetric('sluice_subscribers', 5);
  assert.equal(await gateway.metric('sluice_groups'), 1);
  await gateway.postEvent('items', { id: 'a', n: 7 });
  await received.until(1);
  assert.deepEqual(received.data, [{ item: { n: 7 } }]);
  for (const id of ['document-id', 'hash', 'both', 'text']) {
    const { payload } = await socket.until((message) => message.type === 'next' && message.id === id);
    assert.deepEqual(payload, { data: { item: { n: 7 } } });
  }
  assert.equal(await gateway.metric('sluice_executions_total'), 1);
});

test('with PERSISTED_DOCUMENTS_ONLY ids are executed and texts are not, over WebSocket and POST', async (t) => {
  const gateway = await closed();
  const idRequired = refusal('PERSISTED_QUERY_ID_REQUIRED');
  const notFound = refusal('PERSISTED_QUERY_NOT_FOUND');
  assert.deepEqual(await post(gateway, { documentId: 'name-1' }), { data: { __typename: 'Query' } });
  assert.deepEqual(await post(gateway, { query: NAME }), idRequired);
  assert.deepEqual(await post(gateway, { query: NAME, documentId: 'nope' }), notFound);
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  socket.subscribe('text', ITEMS);
  socket.send({ type: 'subscribe', id: 'id', payload: { documentId: 'items-1' } });
  socket.send({ type: 'subscribe', id: 'unknown', payload: { documentId: 'nope', query: ITEMS } });
  const errorOf = async (id: string): Promise<unknown> =>
    (await socket.until((message) => message.type === 'error' && message.id === id)).payload;
  assert.deepEqual(await errorOf('text'), idRequired.errors);
  assert.deepEqual(await errorOf('unknown'), notFound.errors);
  await gateway.untilMetric('sluice_subscribers', 1);
});

test('a manifest that can not be read, or with a document that is not valid, stops the start, with the reason', async (t) => {
  const settings = await folderWith(t, { good: NAME, bad: 'subscription { item { price_in_euro } }' });
  for (const [file, message] of [
    [
      settings['PERSISTED_DOCUMENTS'],
      /PERSISTED_DOCUMENTS: .*manifest\.json, got:\n  bad: 1:23: Cannot query field "price_in_euro"/,
    ],
    ['/none.json', /PERSISTED_DOCUMENTS: expected a file that can be read, got .*none\.json/],
  ] as const) {
    const given = { ...settings, PERSISTED_DOCUMENTS: file ?? '', PORT: '0', ADMIN_PORT: '0' };
    const { code, stderr } = await runCli(t, ['serve'], given);
    assert.equal(code, 1);
    assert.match(stderr, message);
  }
});
