/** What a mutant is tried with: test files, alone or several in one process, and the simulation. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { runProcess, testArgs } from './test-process.mjs';
import { fileOf } from './test-names.mjs';

/** The simulation beside names of test files. */
export const SIMULATION = 'simulate';

/** What a processor of today runs in half a minute. */
const SEEDS = 600;

/**
 * @param {import('./tree.mjs').Tree} tree
 * @param {string[]} names several: they share a process
 * @param {{ limitMs: number, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<import('./test-process.mjs').Outcome>}
 */
export function check(tree, names, { limitMs, env }) {
  return runProcess(argsOf(tree, names), { root: tree.root, limitMs, env });
}

function argsOf({ folder, root }, names) {
  if (names[0] === SIMULATION) {
    return [path.join(root, 'dist/test/simulation/cli.js'), '--seeds', String(SEEDS)];
  }
  const files = names.map((name) => fileOf(root, name));
  if (files.length === 1) return testArgs(files[0]);
  const module = path.join(folder, 'shared.mjs');
  writeFileSync(module, files.map((file) => `import '${pathToFileURL(file)}';\n`).join(''));
  return testArgs(module);
}
