/** The test files of a tree by name, for instance `unit/hub/hub` or `e2e/drain.slow`. Each call reads them anew. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const ENDING = '.test.js';

/** Left out: the simulation, which is a separate check, and tests of its defects. */
const SIMULATION = /^simulation\/(simulation(\.slow)?$|defects\/)/;

/** Slow tests are tried last, after tests with services. */
export const isSlow = (name) => name.endsWith('.slow');

/** Tests that start no other process. */
const IN_PROCESS = /^(unit\/|contract\/memory-|simulation\/)/;

const WITH_SERVICES = /^(contract|integration|e2e|abuse)\//;

/** @returns {string[]} names of fast test files that need no services, and start no gateway */
export function inProcessTests(root) {
  return namesIn(root).filter((name) => IN_PROCESS.test(name) && !isSlow(name));
}

/** @returns {string[]} names of the other test files of the gateway */
export function serviceTests(root) {
  return namesIn(root).filter((name) => (IN_PROCESS.test(name) ? isSlow(name) : WITH_SERVICES.test(name)));
}

export const isUnit = (name) => name.startsWith('unit/');

/** @returns {string} the path of the built file */
export const fileOf = (root, name) => path.join(root, 'dist/test', `${name}${ENDING}`);

/** @returns {string | undefined} the name of a built or source file; undefined: it is no test file of the tree */
export function nameIn(root, file) {
  if (file === undefined) return undefined;
  const [, name] = /^(?:dist\/)?test\/(.+)\.test\.[jt]s$/.exec(path.relative(root, file)) ?? [];
  return name;
}

function namesIn(root) {
  const folder = path.join(root, 'dist/test');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith(ENDING))
    .map((file) => file.slice(0, -ENDING.length))
    .filter((name) => !SIMULATION.test(name))
    .toSorted();
}
