/**
 * Builds outputs that are older than their sources: compiles TypeScript through Babel, and copies the other files that
 * the gateway reads, also GraphiQL's, so that production needs none of their packages. Removes outputs without source.
 */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readArguments } from './lib/arguments.mjs';

const root = path.dirname(import.meta.dirname);
const dist = path.join(root, 'dist');

/** The folders that a gateway needs. Plugins come first: babel.config.js compiles the others with them. */
export const RUNTIME = ['babel-plugins', 'src', 'examples/auction'];

export const ALL = [...RUNTIME, 'loadtest', 'test'];

/** The output of load tests, which is no source. */
const REPORTS = path.join(root, 'loadtest/out') + path.sep;

/** Browser files of dev dependencies, served by the gateway at `/graphiql/`. */
export const GRAPHIQL_FILES = {
  'graphiql.js': 'graphiql/graphiql.min.js',
  'graphiql.css': 'graphiql/graphiql.min.css',
  'react.js': 'react/umd/react.production.min.js',
  'react-dom.js': 'react-dom/umd/react-dom.production.min.js',
  'graphql-ws.js': 'graphql-ws/umd/graphql-ws.min.js',
};

/** @param folders of `ALL`; outputs of other folders stay as they are */
export async function build(folders) {
  const compiler = await newest([
    path.join(root, 'babel.config.js'),
    import.meta.filename,
    ...(await filesBelow(path.join(root, 'babel-plugins'))),
  ]);
  const below = await Promise.all(folders.map((folder) => filesBelow(path.join(root, folder))));
  const sources = below.flat().filter((file) => !file.startsWith(REPORTS));
  const outputs = new Set();
  const stale = [];
  for (const source of sources) {
    const target = targetOf(source);
    outputs.add(target).add(`${target}.map`);
    const changed = Math.max(await modified(source), compiler);
    if (changed > (await modified(target))) stale.push([source, target]);
  }
  for (const [name, source] of Object.entries(GRAPHIQL_FILES)) {
    const target = path.join(dist, 'graphiql', name);
    outputs.add(target);
    if ((await modified(target)) < (await modified(import.meta.filename)))
      stale.push([path.join(root, 'node_modules', source), target]);
  }
  if (stale.length > 0) console.error(`Building ${stale.length} files …`);
  for (const [source, target] of stale) {
    await mkdir(path.dirname(target), { recursive: true });
    await (isTypeScript(source) ? compile(source, target) : copy(source, target));
  }
  const built = await Promise.all(folders.map((folder) => filesBelow(path.join(dist, folder))));
  const orphans = built.flat().filter((file) => !outputs.has(file) && !isDeclaration(file));
  await Promise.all(orphans.map((file) => rm(file, { force: true })));
  return stale.length;
}

async function compile(source, target) {
  // Loaded only here: most builds compile nothing, and loading Babel takes longer than all the rest.
  const { transformFileAsync } = await import('@babel/core');
  const { code, map } = await transformFileAsync(source, { cwd: root, sourceMaps: true });
  map.sources = [path.relative(path.dirname(target), source)];
  await writeWhole(`${target}.map`, JSON.stringify(map));
  await writeWhole(target, `${code}\n//# sourceMappingURL=${path.basename(target)}.map\n`);
}

/** Another build at the same time may load this file as a plugin: it must not find an incomplete file. */
async function writeWhole(target, content) {
  // Not written beside the target: the other build would remove the file as an output without a source.
  const partial = path.join(dist, `.${path.basename(target)}-${process.pid}`);
  await writeFile(partial, content);
  await rename(partial, target);
}

/** The fonts in GraphiQL's styles are half of its files; browsers have fonts of their own. */
const FONTS = /@font-face\s*\{[^}]*url\(\s*["']?data:[^}]*\}/g;

async function copy(source, target) {
  const content = await readFile(source);
  const isStyles = path.basename(target) === 'graphiql.css';
  await writeWhole(target, isStyles ? content.toString().replace(FONTS, '') : content);
}

function targetOf(source) {
  const relative = path.relative(root, source);
  return path.join(dist, isTypeScript(source) ? relative.replace(/ts$/, 'js') : relative);
}

const isDeclaration = (file) => file.endsWith('.d.ts');

/** Tests' fixtures and the files that `sluice init` writes are copied, not compiled. */
const AS_THEY_ARE = /\/(fixtures|src\/cli\/template)\//;

const isTypeScript = (file) => file.endsWith('.ts') && !AS_THEY_ARE.test(file);

async function filesBelow(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

async function modified(file) {
  return (await stat(file).catch(() => undefined))?.mtimeMs ?? 0;
}

async function newest(files) {
  return Math.max(...(await Promise.all(files.map(modified))));
}

if (process.argv[1] === import.meta.filename) {
  readArguments('Usage: npm run build');
  await build(ALL);
}
