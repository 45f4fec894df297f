/**
 * `npm run release:pack -- [folder]`: makes the package that `npm install sluice` installs, as a folder and a tarball,
 * in `.release` or the given folder, and prints the tarball's path.
 * Then makes `sluice-client` in the same way, whose tarball's path is the second line.
 */
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ensureAll, root } from '../ensure.mjs';
import { readArguments } from '../lib/arguments.mjs';

const { positionals } = readArguments('Usage: npm run release:pack -- [folder]', { words: 1 });
await ensureAll('RUNTIME');
const { packClient } = await import('./client.mjs');
const { writeDeclarations } = await import('./declarations.mjs');
const { writeDocumentation } = await import('./documentation.mjs');
const { packTarball } = await import('./tarball.mjs');
const { vendor, vendored } = await import('./vendor.mjs');
const { transform } = await import('esbuild');

/** Files that browsers get, and files that `sluice init` writes. */
const FOR_OTHERS = /\/(server\/(graphiql|debug\/page)|cli\/template)\//;

/** Dependencies that the vendored packages contain. */
const BUNDLED = new Set(['graphql-subscriptions']);

const release = path.resolve(positionals[0] ?? path.join(root, '.release'));
const folder = path.join(release, 'package');
await rm(folder, { recursive: true, force: true });
await mkdir(path.join(folder, 'dist/vendor'), { recursive: true });

await cp(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
for (const name of ['src', 'babel-plugins', 'graphiql', 'examples/auction']) {
  // Source maps would lead nowhere: the package has no sources.
  const filter = (file) => !file.endsWith('.map') && !file.endsWith('.d.ts');
  await cp(path.join(root, 'dist', name), path.join(folder, 'dist', name), { recursive: true, filter });
}
for (const name of ['src', 'babel-plugins']) await shorten(path.join(folder, 'dist', name));
const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
await writeDeclarations(
  Object.values(manifest.exports).map(({ types }) => sourceOf(types)),
  path.join(folder, 'dist'),
);
const vendoredImports = await vendor(path.join(folder, 'dist/vendor'), './dist/vendor');
await writeDocumentation(folder);
console.log(await packTarball(folder, released(manifest, vendoredImports), release));
console.log(await packClient(release));

/**
 * Only code that Node.js runs: comments and white space are a third of it, and declarations keep the comments for users.
 * Names stay, and so do lines, for those who read a stack.
 */
async function shorten(compiled) {
  const entries = await readdir(compiled, { recursive: true, withFileTypes: true });
  const files = entries.map(({ parentPath, name }) => path.join(parentPath, name));
  for (const file of files.filter((each) => each.endsWith('.js') && !FOR_OTHERS.test(each))) {
    const options = { legalComments: 'none', minifyWhitespace: true, lineLimit: 120 };
    const { code } = await transform(await readFile(file, 'utf8'), options);
    await writeFile(file, code);
  }
}

/** './dist/src/index.d.ts' → 'src/index.ts' */
function sourceOf(types) {
  return types.replace(/^\.\/dist\//, '').replace(/\.d\.ts$/, '.ts');
}

function released(
  { name, version, description, license, type, engines, bin, exports, dependencies },
  imports,
) {
  const isInstalled = ([dependency]) => !vendored.includes(dependency) && !BUNDLED.has(dependency);
  return {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin,
    exports,
    imports,
    files: ['dist', 'docs', 'deploy', 'CHANGELOG.md'],
    dependencies: Object.fromEntries(Object.entries(dependencies).filter(isInstalled)),
  };
}
