/** `sluice-client`: the code of `sluice/client` as a package of its own, for web projects without the gateway. */
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { root } from '../ensure.mjs';
import { writeDeclarations } from './declarations.mjs';
import { packTarball } from './tarball.mjs';

const SOURCES = path.join(root, 'src/client');

/**
 * @param release the folder for the folder `client` and the tarball
 * @returns the tarball's path
 */
export async function packClient(release) {
  const folder = path.join(release, 'client');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
  await cp(path.join(import.meta.dirname, 'client-readme.md'), path.join(folder, 'README.md'));
  await build({
    entryPoints: [path.join(SOURCES, 'client.ts')],
    outfile: path.join(folder, 'dist/client.js'),
    bundle: true,
    format: 'esm',
    target: 'es2020',
    logLevel: 'error',
  });
  await writeDeclarations(['client.ts'], path.join(folder, 'dist'), SOURCES);
  const { version, license } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const manifest = {
    name: 'sluice-client',
    version,
    description:
      'GraphQL subscriptions of Sluice, over graphql-ws, that go on where they were after a lost connection',
    license,
    type: 'module',
    sideEffects: false,
    // Metro, and TypeScript with "moduleResolution": "node", read no `exports`.
    main: './dist/client.js',
    types: './dist/client.d.ts',
    exports: { '.': { types: './dist/client.d.ts', default: './dist/client.js' } },
    files: ['dist'],
  };
  return packTarball(folder, manifest, release);
}
