import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { runCli } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { asProject } from '../helpers/typecheck.ts';

const MODULES = path.join(import.meta.dirname, '../../../node_modules');

const graphOf = (t: TestContext, code: string, type = 'module'): Promise<string> =>
  graphFolder(t, {
    'package.json': JSON.stringify({ type }),
    'schema.graphql': itemSchema('items'),
    'graph.ts': `import { defineGraph } from 'sluice';\n${code}`,
  });

const settle = (folder: string, compilerOptions: object): Promise<void> =>
  writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));

/** And nothing else: what Sluice brings is out of reach of the project, as pnpm has it. */
async function installTypeScript(folder: string): Promise<void> {
  const packages = path.join(folder, 'node_modules');
  await mkdir(packages);
  for (const name of ['typescript', '@types'])
    await symlink(path.join(MODULES, name), path.join(packages, name));
}

test('check finds wrong types where TypeScript is installed, by the settings of the project, and none where it is told not to', async (t) => {
  const folder = await graphOf(
    t,
    `interface Types { Backends: 'people' }
export default defineGraph<Types>({
  resolvers: { Item: { seller_name: (item, _args, ctx) => ctx.backends.peple.get('/') } },
});
export const size = (text?: string): number => text.length;
`,
  );
  const check = (...options: readonly string[]) => runCli(t, ['check', ...options, folder]);
  assert.equal((await check()).code, 0, 'there is no TypeScript');
  await asProject(folder);
  const found = await check();
  assert.equal(found.code, 1);
  assert.match(found.stdout, /graph\.ts:4:72: error: Property 'peple' does not exist/);
  assert.match(found.stdout, /graph\.ts:6:48: error: 'text' is possibly 'undefined'/);
  assert.match(found.stdout, /^2 errors, 1 warning$/m);
  await settle(folder, { module: 'NodeNext', types: ['node'], strict: false, rootDir: '.' });
  assert.match((await check()).stdout, /^1 error, /m);
  assert.equal((await check('--no-types')).code, 0);
});

test('check names the command that writes the types which a graph imports, where they are not there yet', async (t) => {
  const folder = await graphOf(
    t,
    `import type { Resolvers } from './schema.types.ts';
export default defineGraph<{ Resolvers: Resolvers }>({ resolvers: {} });
`,
  );
  await asProject(folder);
  const { code, stdout } = await runCli(t, ['check', folder]);
  assert.equal(code, 1);
  assert.match(
    stdout,
    new RegExp(`Cannot find module './schema.types.ts'.*\n    sluice types ${folder} writes it\\.`),
  );
});

test('check takes settings of TypeScript that are for writing declarations, and names the file of wrong ones', async (t) => {
  const folder = await graphOf(t, 'export default defineGraph({});\n');
  await installTypeScript(folder);
  const check = async (compilerOptions: object) => {
    await settle(folder, { module: 'NodeNext', target: 'ES2023', types: ['node'], ...compilerOptions });
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
  assert.match(await check(library), /^0 errors, /m);
  assert.match(await check({ target: 'ES2' }), new RegExp(`^${folder}/tsconfig.json:1:\\d+: error: `, 'm'));
  const unfit = await check({ module: 'ESNext', moduleResolution: 'NodeNext' });
  assert.match(unfit, new RegExp(`^${folder}/tsconfig.json:1:1: error: `, 'm'));
});

test('check takes the code of a graph for ES modules, and finds the types of what the gateway carries, where the project has neither', async (t) => {
  const folder = await graphOf(
    t,
    `import DataLoader from 'dataloader';
import { GraphQLError } from 'graphql';
export const loader = new DataLoader<string, string>(async (ids) => ids.map((id) => id.toUpperCase()));
export const error: GraphQLError = new GraphQLError('no such item');
export const name: number = await Promise.resolve(error.name);
export default defineGraph({});
`,
    'commonjs',
  );
  await installTypeScript(folder);
  const { stdout } = await runCli(t, ['check', folder]);
  assert.match(stdout, /graph\.ts:6:14: error: Type 'string' is not assignable to type 'number'/);
  assert.match(stdout, /^1 error, /m);
});
