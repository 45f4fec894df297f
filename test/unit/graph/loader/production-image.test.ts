import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { buildGraph } from '../../../../src/graph/loader/build-graph.ts';
import { graphFolder } from '../graph-folder.ts';

const FILES = {
  'schema.graphql': 'type Subscription { bid: Bid @event(topic: "bids") } type Bid { note: String }',
  'graph.ts': `import { defineGraph } from 'sluice';
    import { GraphQLError } from 'graphql';
    export default defineGraph({ resolvers: { Bid: { note: (): string => GraphQLError.name } } });`,
};

/** The gateway as it is in a production image: built, and with none of its dev dependencies. */
async function productionImage(t: TestContext): Promise<string> {
  const folder = await graphFolder(t, {});
  const dist = path.join(import.meta.dirname, '../../../..');
  await mkdir(path.join(folder, 'node_modules'));
  await cp(path.join(dist, 'src'), path.join(folder, 'dist/src'), { recursive: true });
  await cp(path.join(dist, '../package.json'), path.join(folder, 'package.json'));
  for (const name of ['graphql', 'dataloader']) {
    const installed = path.dirname(fileURLToPath(import.meta.resolve(`${name}/package.json`)));
    await symlink(installed, path.join(folder, 'node_modules', name));
  }
  return folder;
}

/** What a call of one of the gateway's functions prints, run in that image. */
async function run(image: string, module: string, call: string): Promise<string> {
  const url = pathToFileURL(path.join(image, 'dist/src/graph/loader', module)).href;
  const script = `import * as sluice from '${url}'; console.log(await sluice.${call}.catch((error) => error.message))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return stdout;
}

describe('without Babel', () => {
  it('a TypeScript graph is refused, with the command that compiles it', async (t) => {
    const folder = await graphFolder(t, FILES);
    const said = await run(await productionImage(t), 'load-graph.js', `loadGraph('${folder}')`);
    assert.match(said, /graph\.ts:1:1: error: a TypeScript graph needs Babel/);
    assert.ok(said.includes(`sluice build ${folder}`), said);
  });

  it('a graph that was built loads, with graph.ts still beside graph.js', async (t) => {
    const folder = await graphFolder(t, FILES);
    await buildGraph(folder);
    const call = `loadGraph('${folder}').then(({ schema }) => schema.getType('Bid').getFields().note.resolve())`;
    assert.equal(await run(await productionImage(t), 'load-graph.js', call), 'GraphQLError\n');
  });

  it('building is refused', async (t) => {
    const folder = await graphFolder(t, FILES);
    const said = await run(await productionImage(t), 'build-graph.js', `buildGraph('${folder}')`);
    assert.match(said, /building a graph needs Babel/);
  });
});
