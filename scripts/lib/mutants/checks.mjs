/** The checks of a mutant: test files, one or several in a process, and the simulation. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { runProcess, testArgs } from './test-process.mjs';
import { fileOf } from './test-names.mjs';

/** The simulation's name, used like the names of test files. */
export const SIMULATION = 'simulate';

/** A current processor runs this many seeds in half a minute. */
const SEEDS = 600;

/**
 * @param {import('./tree.mjs').Tree} tree
 * @param {string[]} names several files share a process
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
