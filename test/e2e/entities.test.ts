import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { runCli } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { serveHttp } from '../helpers/local-server.ts';
import { Subgraph } from '../helpers/subgraph.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const FILES = {
  'schema.graphql': `type Subscription { order: Order @event(topic: "orders") }
type Order @key(fields: "id") { id: ID, product: Product @reference(fields: "product_id") }
type Product @key(fields: "upc") @entity(backend: "products") { upc: ID!, name: String @fetched }
`,
  'graph.js': `import { defineGraph } from 'sluice';
    export default defineGraph({ backends: { products: { url: 'http://products.invalid' } } });`,
};

const PRODUCTS = 'type Query { product(upc: ID!): Product } type Product { upc: ID! title: String }';
const FOUND =
  '3:75: error: the back end products has no Product.name\n    Its fields: upc and title.\n1 error, 0 warnings\n';

test('sluice sdl prints a graph as a subgraph', async (t) => {
  const { code, stdout, stderr } = await runCli(t, ['sdl', await graphFolder(t, FILES)]);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(
    stdout,
    /^extend schema @link\(.*type Product @key\(fields: "upc", resolvable: false\) \{\n {2}upc: ID!\n\}\n$/s,
  );
});

test('sluice check compares what is fetched with the schema of its back end, in a file or asked for', async (t) => {
  const folder = await graphFolder(t, FILES);
  const file = path.join(await temporaryFolder(t), 'products.graphql');
  await writeFile(
    file,
    `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3") extend ${PRODUCTS}`,
  );
  const subgraphs = {
    introspected: new Subgraph(PRODUCTS, {}),
    told: new Subgraph(
      `${PRODUCTS} extend type Query { _service: _Service! } type _Service { sdl: String }`,
      {
        Query: { _service: () => ({ sdl: `${PRODUCTS} extend type Product @key(fields: "upc")` }) },
      },
    ),
  };
  const urls = Object.values(subgraphs).map(({ answer }) =>
    serveHttp(t, (request, response) => void respond(answer, request, response)),
  );
  for (const source of [file, ...(await Promise.all(urls))]) {
    const { code, stdout, stderr } = await runCli(t, ['check', folder, '--subgraph', `products=${source}`]);
    assert.deepEqual([code, stderr], [1, ''], source);
    assert.ok(stdout.endsWith(FOUND), stdout);
  }
});

test('sluice check says what is wrong with --subgraph', async (t) => {
  const folder = await graphFolder(t, FILES);
  for (const [option, said] of [
    ['products', /expected --subgraph <back end>=<file or URL>, got 'products'/],
    ['products=nowhere.graphql', /expected the GraphQL schema of products from nowhere\.graphql: ENOENT/],
    [
      'products=http://127.0.0.1:1/',
      /expected the GraphQL schema of products from http:\/\/127\.0\.0\.1:1\/: .*ECONNREFUSED|bad port/,
    ],
  ] as const) {
    const { code, stderr } = await runCli(t, ['check', folder, '--subgraph', option]);
    assert.equal(code, option === 'products' ? 2 : 1, stderr);
    assert.match(stderr, said);
  }
});

async function respond(
  answer: Subgraph['answer'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body: unknown = JSON.parse(await text(request));
  response.end(JSON.stringify(await answer({ method: 'POST', path: '', body, options: {} })));
}
