import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { spawnFor } from '../helpers/child-process.ts';
import { GATEWAY_DEFAULTS, untilListening } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { post } from './graph-gateway.ts';

const DEV = path.join(import.meta.dirname, '../../../scripts/dev.mjs');

const schema = (field: string) =>
  `type Subscription { item: Item @event(topic: "items") } type Item { ${field}: Int }`;

test('npm run dev takes up a changed schema, and does not start anew for it; it prints the ways of events', async (t) => {
  const folder = await graphFolder(t, { 'schema.graphql': schema('n') });
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...GATEWAY_DEFAULTS, GRAPH: folder };
  const gateway = await untilListening(spawnFor(t, process.execPath, [DEV], { env, killSignal: 'SIGTERM' }));
  await writeFile(path.join(folder, 'schema.graphql'), schema('price'));
  await gateway.untilLog(/the graph has been reloaded/);
  const fields = await post(gateway, { query: '{ __type(name: "Item") { fields { name } } }' });
  assert.deepEqual(fields, { data: { __type: { fields: [{ name: 'price' }] } } });
  await gateway.postEvent('items', { price: 1 });
  await gateway.untilPrinted('no client is subscribed to item');
});
