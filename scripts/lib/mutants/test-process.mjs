/** Runs tests of the instrumented copy in a process. The first failure ends it and the processes it has started. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { MARK } from './reporter.mjs';
import { nameIn } from './test-names.mjs';

/** The simulation's line for a seed that has failed. */
const VIOLATION = /^seed \d+:$/;

/** The limit of the wait for output of processes that the tests have left behind. */
const CLOSE_MS = 2_000;

/**
 * @typedef {object} Outcome
 * @property {string} [failure] a test's name, or how the process ended
 * @property {string} [by] the test file, if it is known
 * @property {boolean} isTimeout
 * @property {number} tests that have ended
 * @property {number} seconds
 */

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

export function stopAll() {
  for (const child of running) endGroup(child);
}

/**
 * @param {string[]} args of Node.js
 * @param {object} options
 * @param {string} options.root of the instrumented copy
 * @param {number} options.limitMs
 * @param {NodeJS.ProcessEnv} options.env
 * @returns {Promise<Outcome>}
 */
export function runProcess(args, { root, limitMs, env }) {
  const begin = performance.now();
  const { NODE_TEST_CONTEXT: _context, ...inherited } = process.env;
  const flags = ['--enable-source-maps', '--expose-gc'];
  // A killed process leaves its temporary files behind, so they are in a folder that is removed.
  const temporary = mkdtempSync(path.join(tmpdir(), 'mutant-'));
  const child = spawn(process.execPath, [...flags, ...args], {
    cwd: root,
    detached: true,
    env: { ...inherited, ...env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.add(child);
  /** @type {Outcome} */
  const outcome = { isTimeout: false, tests: 0, seconds: 0 };
  const fail = (failure, by) => {
    outcome.failure ??= failure;
    outcome.by ??= by;
    endGroup(child);
  };
  createInterface(child.stdout).on('line', (line) => {
    if (VIOLATION.test(line)) return fail(line);
    if (!line.startsWith(MARK)) return;
    const { file, name, failed } = JSON.parse(line.slice(MARK.length));
    outcome.tests += 1;
    if (failed) fail(name, nameIn(root, file));
  });
  return new Promise((resolve, reject) => {
    const tooLong = setTimeout(() => {
      outcome.isTimeout = outcome.failure === undefined;
      fail(`not ended within ${Math.round(limitMs / 1000)} s`);
    }, limitMs);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(tooLong);
      endGroup(child);
      const closed = () => {
        running.delete(child);
        rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
        if (code !== 0) outcome.failure ??= `ended with ${signal ?? code}`;
        resolve({ ...outcome, seconds: (performance.now() - begin) / 1000 });
      };
      const closing = setTimeout(closed, CLOSE_MS);
      child.once('close', () => {
        clearTimeout(closing);
        closed();
      });
    });
  });
}

/** @param {string} module @returns {string[]} arguments for `runProcess` */
export const testArgs = (module) => [
  '--test-reporter',
  path.join(import.meta.dirname, 'reporter.mjs'),
  '--test-reporter-destination',
  'stdout',
  module,
];

function endGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
