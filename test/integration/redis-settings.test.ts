import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { Authority } from '../helpers/authority.ts';
import { runCli } from '../helpers/gateway.ts';
import { graphFolder, itemGraph } from '../helpers/graph-folder.ts';

test('settings of Redis that can not be meant so stop the start, and the error says what was expected', async (t) => {
  const authority = await Authority.create(t);
  const [one, other] = [await authority.issue('one'), await authority.issue('other')];
  const empty = path.join(one.folder, 'empty');
  await writeFile(empty, '\n');
  const GRAPH = await itemGraph(t, 'items');
  const kept = await graphFolder(t, {
    'schema.graphql': `
      type Subscription { item: Item @event(topic: "items", history: { size: 10, ttl_seconds: 60 }) }
      type Item { id: ID! }`,
  });
  const secure = { GRAPH, REDIS_URL: 'rediss://localhost:1' };
  const refused: readonly (readonly [settings: Record<string, string>, error: RegExp])[] = [
    [
      { ...secure, REDIS_CERT: one.certificateFile, REDIS_KEY: other.keyFile },
      /REDIS_KEY: expected a file with the key of REDIS_CERT as PEM, not encrypted, got/,
    ],
    [
      { ...secure, REDIS_PASSWORD_FILE: empty },
      /REDIS_PASSWORD_FILE: expected a file with text in it, got .*, which is empty/,
    ],
    [
      { ...secure, REDIS_CA: path.join(GRAPH, 'nothing.pem') },
      /REDIS_CA: expected a file that can be read, got .*nothing\.pem/,
    ],
    [
      { GRAPH: kept, REDIS_CLUSTER: '127.0.0.1:1', REDIS_CLUSTER_SPREAD: 'items' },
      /REDIS_CLUSTER_SPREAD: expected topics without history, got items/,
    ],
  ];
  for (const [settings, error] of refused) {
    const { code, stderr } = await runCli(t, ['serve'], settings);
    assert.match(stderr, error);
    assert.equal(code, 1);
  }
});
