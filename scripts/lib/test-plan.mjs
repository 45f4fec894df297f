/**
 * In which processes the test files run, and in which order: what takes long goes first, so that nothing is left to
 * wait for at the end. How long each took is remembered from one run to the next.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../ensure.mjs';
import { nameOf, suiteOf } from './test-files.mjs';

/** Their files are many, short, and without effect on each other: they share processes, whose start costs more. */
const SHARING = new Set(['unit', 'babel']);

/** Takes heap snapshots of its process, which are the slower the more that process has loaded. */
const ALONE = new Set(['unit/server/debug/routes']);

/** Seconds of files that a run would wait for if they came last; used until a run of this clone has measured them. */
const SLOW = {
  'deploy/image': 45,
  'deploy/rolling-update': 45,
  'e2e/workers': 45,
  'memory/idle-subscriber': 40,
  'docs/pages': 40,
  'loadtest/micro/micro-command': 30,
  'clients/clients': 30,
  'clients/queries': 15,
  'clients/protocol/protocol': 10,
  'integration/ingest': 20,
  'integration/ladder': 17,
  'e2e/drain': 15,
  'e2e/debug': 13,
  'e2e/debug-page': 13,
  'integration/modes': 12,
  'integration/two-pods': 12,
  'integration/kafka-tls': 10,
  'integration/redis-outage': 10,
  'unit/executor/parity': 6,
};

const ORDINARY = 1;

const memory = path.join(root, 'node_modules/.test-seconds.json');

/**
 * @param {string[]} files as from `testFiles`
 * @param {object} options
 * @param {number} options.processes among which files that share one are divided
 * @param {string} options.folder for what has to be written
 * @returns {string[]} modules, each to be run in a process of its own, in this order
 */
export function plan(files, { processes, folder }) {
  const measured = readSeconds();
  const secondsOf = (file) => measured[nameOf(file)] ?? SLOW[nameOf(file)] ?? ORDINARY;
  const isShared = (file) => SHARING.has(suiteOf(file)) && !ALONE.has(nameOf(file));
  // By their names and not by their times, so that a fault that files have only together comes again.
  const sharing = files.filter(isShared).toSorted();
  const shared = Array.from({ length: processes }, (_, process) =>
    sharing.filter((_file, index) => index % processes === process),
  );
  return [...files.filter((file) => !isShared(file)).map((file) => [file]), ...shared]
    .filter((group) => group.length > 0)
    .map((group) => ({ files: group, seconds: group.reduce((sum, file) => sum + secondsOf(file), 0) }))
    .toSorted(slowestFirst)
    .map(({ files: [first, ...others] }, index) =>
      others.length === 0 ? first : together([first, ...others], path.join(folder, `shared-${index}.mjs`)),
    );
}

/** @param {Record<string, number>} seconds of the files that were run, by name */
export function rememberSeconds(seconds) {
  try {
    mkdirSync(path.dirname(memory), { recursive: true });
    writeFileSync(memory, JSON.stringify({ ...readSeconds(), ...seconds }));
  } catch (error) {
    console.error(`The order of the next run is not the best one: ${error.message}`);
  }
}

function readSeconds() {
  try {
    return JSON.parse(readFileSync(memory, 'utf8'));
  } catch {
    return {};
  }
}

const slowestFirst = (a, b) => b.seconds - a.seconds;

function together(files, module) {
  writeFileSync(module, files.map((file) => `import '${pathToFileURL(file)}';\n`).join(''));
  return module;
}
