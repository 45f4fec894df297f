/**
 * Installs and builds what a fresh clone lacks: dependencies, then the build. Uses only Node.js, since it runs before
 * packages are installed. Logs its steps, and nothing if there is nothing to do.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readArguments } from './lib/arguments.mjs';

export const root = path.dirname(import.meta.dirname);

const OLDEST_NODE = [20, 19];
const STAMP = path.join(root, 'node_modules', '.installed');

export function ensureNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  console.error(`Sluice needs Node.js ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}.`);
  process.exit(1);
}

/** Installs if the installed packages are not those of the lock file. */
export function ensureInstalled() {
  const wanted = fingerprint();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return;
  console.error('Installing dependencies …');
  yarn(['install', '--immutable']);
  writeFileSync(STAMP, wanted);
}

/** @param what the folders to build, an export of build.mjs: building the others would take most of the time */
export async function ensureBuilt(what = 'ALL') {
  const { build, [what]: folders } = await import('./build.mjs');
  await build(folders);
}

export async function ensureAll(what) {
  ensureNode();
  ensureInstalled();
  await ensureBuilt(what);
}

/** Runs the Yarn of this repository. Its output appears only if it fails. */
function yarn(args) {
  const [release] = readdirSync(path.join(root, '.yarn/releases'));
  try {
    execFileSync(process.execPath, [path.join(root, '.yarn/releases', release), ...args], {
      cwd: root,
      stdio: 'pipe',
    });
  } catch (error) {
    console.error(String(error.stdout ?? error));
    process.exit(1);
  }
}

function fingerprint() {
  const hash = createHash('sha256').update(process.versions.modules);
  const patches = path.join(root, '.yarn/patches');
  const files = ['package.json', 'yarn.lock', '.yarnrc.yml'].map((name) => path.join(root, name));
  if (existsSync(patches)) files.push(...readdirSync(patches).map((name) => path.join(patches, name)));
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex');
}

if (process.argv[1] === import.meta.filename) {
  readArguments('Usage: node scripts/ensure.mjs');
  await ensureAll();
}
