import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../docs/markdown.ts';
import { sharedGraph } from '../e2e/graph-gateway.ts';
import { spawnFor } from '../helpers/child-process.ts';
import { needs } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { SECRET, signToken } from '../helpers/tokens.ts';
import { Program } from './program.ts';
import { holdTable } from './table.ts';
import { versionOf } from './versions.ts';

const SCHEMA = `
  type Query { said(text: String!): Said! }
  type Subscription { said: Said @event(topic: "said") }
  type Said { text: String! listener: String }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    resolvers: { Query: { said: (_root, { text }, { viewer }) => ({ text, listener: viewer.id }) } },
  });
`;

const TEXT = 'Grüße, 日本語, 🎉 "\\\n\u2028';

const gatewayOf = sharedGraph(
  { 'schema.graphql': SCHEMA, 'graph.js': GRAPH },
  { AUTH_SECRET: SECRET, AUTH_ANONYMOUS: 'true' },
);

const LIBRARIES = [
  { client: 'graphql-request', library: 'graphql-request', packageName: 'graphql-request' },
  { client: 'Apollo Client', library: 'apollo-client-4', packageName: '@apollo/client' },
  { client: 'Apollo Client', library: 'apollo-client-3', packageName: 'apollo-client-3' },
  { client: 'urql', library: 'urql', packageName: '@urql/core' },
];

test('clients get results and errors of queries by POST and GET', needs(), async (t) => {
  const gateway = await gatewayOf();
  const TOKEN = await signToken({ sub: 'ann' });
  const rows: string[][] = [];
  for (const { client, library, packageName } of LIBRARIES) {
    for (const method of ['POST', 'GET']) {
      const version = versionOf(packageName);
      await t.test(`${client} ${version} by ${method}`, async () => {
        const file = path.join(import.meta.dirname, 'programs/queries.js');
        const environment = { GATEWAY: new URL(gateway.httpUrl).host, TOKEN };
        const program = Program.spawn(t, [process.execPath, file, library, method], environment);
        const ask = (id: string, field: string): void =>
          program.command({
            id,
            query: `query Said($text: String!) { said(text: $text) { __typename text ${field} } }`,
            variables: { text: TEXT },
          });
        ask('1', 'listener');
        assert.deepEqual(await program.untilData('1', 1), [
          { said: { __typename: 'Said', text: TEXT, listener: 'ann' } },
        ]);
        ask('2', 'nothing');
        assert.match((await program.untilEnd('2')).error ?? '', /Cannot query field .*nothing/);
        rows.push([client, version, method, 'yes', 'yes']);
      });
    }
  }
  await t.test('docs/reference/clients.md has what was found', async () => {
    await holdTable('queries', ['client', 'version', 'method', 'results', 'errors'], rows);
  });
});

test('GraphQL Code Generator writes types by introspection of a gateway', needs(), async (t) => {
  const gateway = await gatewayOf();
  const folder = await temporaryFolder(t);
  const [config, types] = [path.join(folder, 'codegen.json'), path.join(folder, 'types.ts')];
  const headers = { authorization: `Bearer ${await signToken({ sub: 'ann' })}` };
  await writeFile(
    config,
    JSON.stringify({
      schema: [{ [`${gateway.httpUrl}/graphql`]: { headers } }],
      generates: { [types]: { plugins: ['typescript'] } },
    }),
  );
  const bin = path.join(ROOT, 'node_modules/.bin/graphql-codegen');
  const child = spawnFor(t, process.execPath, [bin, '--config', config], { cwd: ROOT });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 0, output);
  const text = await readFile(types, 'utf8');
  assert.match(text, /export type Said = \{[^}]*text: Scalars\['String'\]\['output'\]/);
  assert.match(text, /export type Subscription = \{[^}]*said\?: Maybe<Said>/);
});
