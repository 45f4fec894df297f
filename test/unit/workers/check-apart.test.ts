import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkApart } from '../../../src/workers/reload-checked.ts';
import { graphFolder, itemSchema } from '../../helpers/graph-folder.ts';
import { asProject } from '../../helpers/typecheck.ts';

describe('checkApart', () => {
  it('tells the faults that keep a graph from being loaded', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': 'type Subscription { item: Item }' });
    assert.match((await checkApart(folder)).join(), /schema\.graphql:1:27: error: Unknown type "Item"/);
  });

  it('takes a graph with wrong types, as a gateway does', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': itemSchema('items'),
      'graph.ts': `import { defineGraph } from 'sluice';
export const size: number = 'seven';
export default defineGraph({});`,
    });
    await asProject(folder);
    assert.deepEqual(await checkApart(folder), []);
  });
});
