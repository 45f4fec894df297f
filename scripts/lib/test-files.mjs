/** Which test files a run is about. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { root } from '../ensure.mjs';

const folder = path.join(root, 'dist/test');
const ENDING = '.test.js';

const SUITES = [
  'unit',
  'babel',
  'contract',
  'simulation',
  'integration',
  'e2e',
  'clients',
  'abuse',
  'memory',
  'loadtest',
  'deploy',
  'package',
  'docs',
];
const WITHOUT_SERVICES = new Set(['unit', 'babel', 'simulation']);
const WITH_DEPLOY_TOOLS = new Set(['deploy', 'package', 'docs']);

/**
 * @param {string[]} selection suites, folders or files: `unit`, `test/unit/hub`, `test/unit/config.test.ts`; none: all
 * @returns {string[]} paths of built files
 */
export function testFiles(selection) {
  const all = SUITES.flatMap((suite) => filesOf(suite));
  const outside = filesOf('').filter((file) => !all.includes(file));
  if (outside.length > 0) {
    throw new Error(`Expected tests in a suite (${SUITES.join(', ')}), got ${outside.join(', ')}.`);
  }
  const selected = selection.map((one) => {
    const stem = path
      .normalize(one)
      .replace(/^(dist\/)?test\//, '')
      .replace(/(\.test)?\.[jt]s$|\/$/, '');
    const files = all.filter((file) => file === stem + ENDING || file.startsWith(`${stem}/`));
    if (files.length === 0)
      throw new Error(`Expected a suite (${SUITES.join(', ')}), folder or file, got ${one}.`);
    return files;
  });
  const files = selection.length === 0 ? all : [...new Set(selected.flat())];
  return files.map((file) => path.join(folder, file));
}

/** @param {string[]} files as from `testFiles` */
export function needServices(files) {
  return files.some((file) => !WITHOUT_SERVICES.has(suiteOf(file)));
}

/** @param {string[]} files as from `testFiles` */
export function needClientTools(files) {
  return files.some((file) => suiteOf(file) === 'clients');
}

/** @param {string[]} files as from `testFiles` */
export function needDeployTools(files) {
  return files.some((file) => WITH_DEPLOY_TOOLS.has(suiteOf(file)));
}

/**
 * @param {string | undefined} file absolute, built or source
 * @returns {string | undefined} such as `unit/hub/hub`; undefined: it is no test file
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

function filesOf(suite) {
  const suiteFolder = path.join(folder, suite);
  if (!existsSync(suiteFolder)) return [];
  return readdirSync(suiteFolder, { recursive: true })
    .filter((file) => file.endsWith(ENDING))
    .map((file) => path.join(suite, file))
    .toSorted();
}
