/** `npm run check`: types, lint, format, layers, and unused exports. Runs all of them, and says which failed. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { ensureInstalled, ensureNode, root } from './ensure.mjs';
import { readArguments } from './lib/arguments.mjs';

const FOLDERS = ['src', 'babel-plugins', 'examples', 'loadtest', 'test', 'scripts'];

readArguments('Usage: npm run check');
ensureNode();
ensureInstalled();

const present = FOLDERS.filter((folder) => existsSync(path.join(root, folder)));

/** The slowest check first, so that the others run beside it. */
const CHECKS = [
  ['types', 'tsc', '--project', '.', '--noEmit'],
  ['unused', 'knip', '--no-progress', '--no-config-hints'],
  ['format', 'prettier', '--check', '--log-level', 'warn', '.'],
  ['layers', 'depcruise', '--config', '.dependency-cruiser.cjs', '--output-type', 'err', ...present],
  ['lint', 'oxlint', '--deny-warnings'],
];

const waiting = [...CHECKS];
const failed = [];
await Promise.all(Array.from({ length: Math.min(CHECKS.length, availableParallelism()) }, worker));
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}

async function worker() {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    const [name, command, ...args] = check;
    const start = performance.now();
    const { code, output } = await run(command, args);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${code === 0 ? '✔' : '✖'} ${name} (${seconds} s)`);
    if (code === 0) continue;
    failed.push(name);
    console.log(output.trimEnd());
  }
}

function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(path.join(root, 'node_modules/.bin', command), args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
