import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { runCli } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { asProject } from '../helpers/typecheck.ts';

const MODULES = path.join(import.meta.dirname, '../../../node_modules');

/** And nothing else: what Sluice brings is out of reach of the project, as pnpm has it. */
async function installTypeScript(folder: string): Promise<void> {
  const packages = path.join(folder, 'node_modules');
  await mkdir(packages);
  for (const name of ['typescript', '@types'])
    await symlink(path.join(MODULES, name), path.join(packages, name));
}

test('check finds wrong types by the settings of the project, and none where it is told not to', async (t) => {
  const folder = await graphFolder(t, {
    'schema.graphql': itemSchema('items'),
    'graph.ts': `import { defineGraph } from 'sluice';
interface Types { Backends: 'people' }
export default defineGraph<Types>({
  resolvers: { Item: { seller_name: (item, _args, ctx) => ctx.backends.peple.get('/') } },
});
export const size = (text?: string): number => text.length;
`,
  });
  const check = (...options: readonly string[]) => runCli(t, ['check', ...options, folder]);
  await asProject(folder);
  const found = await check();
  assert.equal(found.code, 1);
  assert.match(found.stdout, /graph\.ts:4:72: error: Property 'peple' does not exist/);
  assert.match(found.stdout, /graph\.ts:6:48: error: 'text' is possibly 'undefined'/);
  assert.match(found.stdout, /^2 errors, 1 warning$/m);
  const settings = { compilerOptions: { module: 'NodeNext', types: ['node'], strict: false, rootDir: '.' } };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(settings));
  assert.match((await check()).stdout, /^1 error, /m);
  assert.equal((await check('--no-types')).code, 0);
});

test('check takes the code of a graph for ES modules, as the gateway does', async (t) => {
  const folder = await graphFolder(t, {
    'package.json': '{"type":"commonjs"}',
    'schema.graphql': itemSchema('items'),
    'graph.ts': `import { defineGraph } from 'sluice';
export const size: string = await Promise.resolve(7);
export default defineGraph({});
`,
  });
  await installTypeScript(folder);
  const found = await runCli(t, ['check', folder]);
  assert.match(found.stdout, /graph\.ts:2:14: error: Type 'number' is not assignable to type 'string'/);
  assert.match(found.stdout, /^1 error, /m);
});

test('check takes settings of TypeScript that are for writing declarations, and names the file of wrong ones', async (t) => {
  const folder = await graphFolder(t, {
    'package.json': '{"type":"module"}',
    'schema.graphql': itemSchema('items'),
    'graph.ts': `import { defineGraph } from 'sluice';
export default defineGraph({});
`,
  });
  await installTypeScript(folder);
  const check = async (compilerOptions: object) => {
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    return (await runCli(t, ['check', folder])).stdout;
  };
  const library = {
    composite: true,
    declarationDir: 'types',
    declarationMap: true,
    isolatedDeclarations: true,
    outDir: 'out',
    rootDir: '.',
    tsBuildInfoFile: 'types.tsbuildinfo',
  };
  const settings = { module: 'NodeNext', target: 'ES2023', types: ['node'] };
  assert.match(await check({ ...settings, ...library }), /^0 errors, /m);
  assert.match(
    await check({ ...settings, target: 'ES2' }),
    new RegExp(`^${folder}/tsconfig.json:1:\\d+: error: `, 'm'),
  );
  const unfit = await check({ ...settings, module: 'ESNext', moduleResolution: 'NodeNext' });
  assert.match(unfit, new RegExp(`^${folder}/tsconfig.json:1:1: error: `, 'm'));
});

test('check finds the types of what the gateway carries where the project has no such packages', async (t) => {
  const folder = await graphFolder(t, {
    'package.json': '{"type":"module"}',
    'schema.graphql': itemSchema('items'),
    'graph.ts': `import DataLoader from 'dataloader';
import { GraphQLError } from 'graphql';
import { defineGraph } from 'sluice';
export const loader = new DataLoader<string, string>(async (ids) => ids.map((id) => id.toUpperCase()));
export const error: GraphQLError = new GraphQLError('no such item');
export const name: number = error.name;
export default defineGraph({});
`,
  });
  await installTypeScript(folder);
  const found = await runCli(t, ['check', folder]);
  assert.match(found.stdout, /graph\.ts:6:14: error: Type 'string' is not assignable to type 'number'/);
  assert.match(found.stdout, /^1 error, /m);
});
