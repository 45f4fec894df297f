/** Chooses the test files of a run. Their names say which tier they belong to. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { root } from '../ensure.mjs';

const folder = path.join(root, 'dist/test');
const ENDING = '.test.js';
const SLOW_ENDING = '.slow.test.js';

/** Suites in the order of the run: first those that mostly wait, for brokers and programs; last those that compute. */
const SUITES = [
  'package',
  'deploy',
  'docs',
  'memory',
  'clients',
  'loadtest',
  'contract',
  'integration',
  'e2e',
  'abuse',
  'simulation',
  'babel',
  'unit',
];

const WITHOUT_SERVICES = new Set(['unit', 'babel', 'simulation']);
const WITH_DEPLOY_TOOLS = new Set(['deploy', 'package', 'docs']);

/** @typedef {'fast' | 'slow' | 'all'} Tier */

/**
 * @param {string[]} selection suites, folders or files: `unit`, `test/unit/hub`, `test/unit/config.test.ts`; none: all
 * @param {Tier} tier of the files of suites and folders; a file that is named runs in any tier
 * @returns {string[]} paths of built files
 */
export function testFiles(selection, tier) {
  const all = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(ENDING));
  const outside = all.filter((file) => !SUITES.includes(file.split(path.sep)[0]));
  if (outside.length > 0) {
    throw new Error(`Expected tests in a suite (${SUITES.join(', ')}), got ${outside.join(', ')}.`);
  }
  const selected = selection.flatMap((one) => filesAt(one, all, tier));
  const files = selection.length === 0 ? all.filter((file) => isIn(tier, file)) : [...new Set(selected)];
  return files.toSorted(asTheyRun).map((file) => path.join(folder, file));
}

const isSlow = (file) => file.endsWith(SLOW_ENDING);

function filesAt(one, all, tier) {
  const stem = path
    .normalize(one)
    .replace(/^(dist\/)?test\//, '')
    .replace(/(\.test)?\.[jt]s$|\/$/, '');
  const named = all.filter((file) => [stem + ENDING, stem + SLOW_ENDING].includes(file));
  const below = all.filter((file) => file.startsWith(`${stem}/`));
  if (named.length + below.length === 0)
    throw new Error(`Expected a suite (${SUITES.join(', ')}), folder or file, got ${one}.`);
  return [...named, ...below.filter((file) => isIn(tier, file))];
}

const isIn = (tier, file) => tier === 'all' || isSlow(file) === (tier === 'slow');

function asTheyRun(one, other) {
  const rank = (file) => SUITES.indexOf(file.split(path.sep)[0]);
  return rank(one) - rank(other) || Number(isSlow(other)) - Number(isSlow(one)) || (one < other ? -1 : 1);
}

/** @param {string[]} files as from `testFiles` */
export function needsOf(files) {
  const slow = files.filter(isSlow);
  return {
    services: files.some((file) => !WITHOUT_SERVICES.has(suiteOf(file))),
    deployTools: slow.some((file) => WITH_DEPLOY_TOOLS.has(suiteOf(file))),
    clientTools: slow.some((file) => suiteOf(file) === 'clients'),
  };
}

/**
 * @param {string | undefined} file absolute, built or source
 * @returns {string | undefined} for instance `unit/hub/hub`; undefined: it is no test file
 */
export function nameOf(file) {
  if (file === undefined || !path.isAbsolute(file)) return undefined;
  const [, name] = /^(?:dist\/)?test\/(.+)\.test\.[jt]s$/.exec(path.relative(root, file)) ?? [];
  return name;
}

/** @param {string} file as from `testFiles` */
export function suiteOf(file) {
  return path.relative(folder, file).split(path.sep)[0];
}
