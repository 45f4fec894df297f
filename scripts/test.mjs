/**
 * `npm test [-- <suite, folder or file> …] [-- --test-name-pattern=…]`: installs and builds what is missing, starts the
 * services that the tests want, runs the tests, and stops the services if this run started them. `--all`: slow tests
 * too; `--slow`: only slow tests. With CI=true a skipped test is a failure.
 */
import { spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';
import { ensureAll, root } from './ensure.mjs';
import { interrupt } from './lib/processes.mjs';
import { readTestArguments } from './lib/test-arguments.mjs';
import { needsOf, testFiles } from './lib/test-files.mjs';
import { withServices } from './lib/test-services.mjs';

/** The limit of all tests together, in case many of them hang. */
const RUN_TIMEOUT_MS = 3_600_000;

/** The time for tests to run their cleanup after an interruption. */
const GRACE_MS = 5_000;

const RUNNER = path.join(import.meta.dirname, 'lib/test-runner.mjs');

const given = process.argv.slice(2);
const { selection, tier, nodeFlags } = readTestArguments(given);
// Other options are for Node.js, which is asked before services start, so that it refuses unknown ones at once.
const { status } = spawnSync(process.execPath, [...nodeFlags, '--version'], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
if (status !== 0) process.exit(1);
await ensureAll();

/** @type {import('node:child_process').ChildProcess | undefined} */
let runner;
/** @type {NodeJS.Signals | undefined} */
let interruptedBy;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interruptedBy = signal;
    if (runner === undefined) return interrupt();
    killGroup('SIGTERM');
    setTimeout(killGroup, GRACE_MS, 'SIGKILL').unref();
  });
}

async function main() {
  const files = testFiles(selection, tier);
  if (files.length === 0) throw new Error('There are no tests.');
  return withServices(needsOf(files), (env) =>
    // Node.js passes the flags on to the tests' processes.
    runNode(['--enable-source-maps', '--expose-gc', ...nodeFlags, RUNNER, ...given], env),
  );
}

/**
 * Runs Node.js in a new process group: processes that a test leaves behind, killed or at fault, end with it.
 *
 * @returns {Promise<number>} the exit code
 */
function runNode(args, env) {
  return new Promise((resolve, reject) => {
    runner = spawn(process.execPath, args, {
      cwd: root,
      detached: true,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const tooLong = setTimeout(() => {
      console.error(`The tests have not ended within ${RUN_TIMEOUT_MS / 60_000} minutes.`);
      killGroup('SIGTERM');
      setTimeout(killGroup, GRACE_MS, 'SIGKILL').unref();
    }, RUN_TIMEOUT_MS);
    runner.once('error', (error) => {
      clearTimeout(tooLong);
      reject(error);
    });
    runner.once('exit', (code, signal) => {
      clearTimeout(tooLong);
      if (signal !== null && interruptedBy === undefined)
        console.error(`Expected the tests to come to their end, but their process was ended by ${signal}.`);
      killGroup('SIGKILL');
      resolve(code ?? 1);
    });
  });
}

function killGroup(signal) {
  try {
    process.kill(-runner.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
if (interruptedBy !== undefined) process.exitCode = 128 + constants.signals[interruptedBy];
