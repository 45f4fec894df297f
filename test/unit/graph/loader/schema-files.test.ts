import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { getIntrospectionQuery, graphqlSync, type IntrospectionQuery } from 'graphql';
import { checkGraph } from '../../../../src/graph/loader/check-graph.ts';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';

const ORDERS = `type Subscription {
  order_placed(order_id: ID!): Order @event(topic: "orders", key: "order_id")
}
type Order { order_id: ID, stock: Stock }
`;
const STOCK = `type Stock { sku: ID }
extend type Subscription {
  stock_moved(sku: ID): Stock @event(topic: "stock", key: "sku")
}
`;

async function findings(t: TestContext, files: Readonly<Record<string, string>>): Promise<string[]> {
  const folder = await graphFolder(t, files);
  const found = await checkGraph(folder);
  return found.map(
    ({ file, line, column, message, hint }) =>
      `${path.relative(folder, file)}:${line}:${column} ${message} (${hint})`,
  );
}

describe('the schema of a graph', () => {
  it('is all files of its folder that end in .graphql', async (t) => {
    const folder = await graphFolder(t, { 'orders.graphql': ORDERS, 'stock.graphql': STOCK });
    const { bindings } = await loadGraph(folder);
    assert.deepEqual([...bindings.keys()], ['order_placed', 'stock_moved']);
  });

  it('has faults where they are written, whichever file that is', async (t) => {
    const wrong = STOCK.replace('key: "sku"', 'key: "ean"').replace('Stock @event', 'Stok @event');
    const of = (files: Readonly<Record<string, string>>) =>
      findings(t, { 'schema.graphql': ORDERS, ...files });
    for (const [files, message] of [
      [{ 'stock.graphql': wrong }, /^stock\.graphql:3:25 Unknown type "Stok"/],
      [{ 'stock.graphql': STOCK.replace('key: "sku"', 'key: "ean"') }, /^stock\.graphql:3:\d+ .*ean/],
      [
        { 'stock.graphql': STOCK, 'z.graphql': 'type Order { id: ID }\n' },
        /^z\.graphql:1:6 There can be only one type named "Order"\. .*extend type/,
      ],
    ] as const) {
      assert.match((await of(files))[0] ?? '', message);
    }
    const syntax = await of({ 'stock.graphql': 'type {', 'z.graphql': 'type }' });
    assert.deepEqual(
      syntax.map((line) => line.replace(/ \(.*/, '')),
      [
        'z.graphql:1:6 Syntax Error: Expected Name, found "}".',
        'stock.graphql:1:6 Syntax Error: Expected Name, found "{".',
      ],
    );
  });

  it('is asked for where the folder has none, or can not be read', async (t) => {
    assert.match((await findings(t, { 'readme.md': '' }))[0] ?? '', /^schema\.graphql:1:1 .*found none/);
    const [missing] = await checkGraph('/no/such/folder');
    assert.match(missing?.message ?? '', /expected a schema that can be read: ENOENT/);
  });

  it('shows clients what it declares, and not the directives and types that serve to write it', async (t) => {
    const own = 'directive @tone(of: Tone) on FIELD\nenum Tone { LOUD }\n';
    const { schema } = await loadGraph(
      await graphFolder(t, { 'a.graphql': own + ORDERS, 'b.graphql': STOCK }),
    );
    const { data } = graphqlSync({ schema, source: getIntrospectionQuery() });
    const { ['__schema']: shown } = data as unknown as IntrospectionQuery;
    assert.equal(
      shown.types
        .map(({ name }) => name)
        .filter((name) => !name.startsWith('__'))
        .toSorted()
        .join(),
      'Boolean,ID,Int,Order,Query,Stock,String,Subscription,Tone',
    );
    const directives = shown.directives.map(({ name }) => name).toSorted();
    assert.equal(directives.join(), 'cost,deprecated,include,listSize,oneOf,skip,specifiedBy,tone');
  });
});
