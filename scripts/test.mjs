/**
 * `npm test [-- <suite, folder or file> …] [-- --test-name-pattern=…]`: installs and builds what is missing, brings up
 * the services that the tests want, runs the tests, and stops the services if this run started them. `--all`: slow tests
 * too; `--slow`: those alone. With CI=true a skipped test is a failure.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';
import { ensureAll, root } from './ensure.mjs';
import { CLIENT_TOOLS } from './lib/client-tools.mjs';
import { ensureCommands, findCommand } from './lib/commands.mjs';
import { DEPLOY_TOOLS } from './lib/deploy-tools.mjs';
import { jars, kafka } from './lib/kafka.mjs';
import { interrupt } from './lib/processes.mjs';
import { down, SERVICES, up } from './lib/services.mjs';
import { readTestArguments } from './lib/test-arguments.mjs';
import { needClientTools, needDeployTools, needServices, testFiles } from './lib/test-files.mjs';

/** The limit of all tests together, should many of them hang. */
const RUN_TIMEOUT_MS = 3_600_000;

/** Long enough for tests to run their cleanup after an interruption. */
const GRACE_MS = 5_000;

const RUNNER = path.join(import.meta.dirname, 'lib/test-runner.mjs');

const PROGRAMS = ['kcat', 'chromium', 'redis-server', 'curl'];

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
  const args = process.argv.slice(2);
  const { selection, tier, nodeFlags } = readTestArguments(args);
  const files = testFiles(selection, tier);
  if (files.length === 0) throw new Error('There are no tests.');
  const services = needServices(files) ? await bringUp() : { env: {}, started: [] };
  if (needDeployTools(files)) Object.assign(services.env, await tools(DEPLOY_TOOLS));
  if (needClientTools(files)) Object.assign(services.env, await tools(CLIENT_TOOLS));
  try {
    // Node hands the flags on to the tests' processes.
    return await runNode(
      ['--enable-source-maps', '--expose-gc', ...nodeFlags, RUNNER, ...args],
      services.env,
    );
  } finally {
    if (services.started.length > 0) await down(services.started);
  }
}

/** A service that can't be had does not stop the run: the tests that need it are skipped, with the reason. */
async function bringUp() {
  const outcomes = await up(Object.keys(SERVICES));
  const env = {};
  for (const [name, outcome] of Object.entries(outcomes)) {
    env[SERVICES[name].variable] = outcome.address ?? '';
    if ('reason' in outcome) env[unavailable(name)] = outcome.reason;
  }
  for (const program of PROGRAMS) {
    await ensureCommands(program).catch((error) => (env[unavailable(program)] = error.message));
  }
  // A broker of a test's own, with TLS and passwords, wherever the ordinary one comes from.
  await kafka.install().then(
    () => (env.KAFKA_JARS = jars),
    (error) => (env.KAFKA_JARS_UNAVAILABLE = error.message),
  );
  for (const [name, reason] of Object.entries(env)) if (name.endsWith('_UNAVAILABLE')) console.error(reason);
  env.CHROMIUM = process.env.CHROMIUM || findCommand('chromium') || '';
  return { env, started: Object.keys(outcomes).filter((name) => outcomes[name].started) };
}

/** @returns {Promise<Record<string, string>>} where each is, or why it can't be had */
async function tools(known) {
  const env = {};
  for (const [name, ensure] of Object.entries(known)) {
    try {
      env[variable(name)] = await ensure();
    } catch (error) {
      env[unavailable(name)] = error.message;
      console.error(error.message);
    }
  }
  return env;
}

const variable = (name) => name.toUpperCase().replaceAll('-', '_');

const unavailable = (name) => `${variable(name)}_UNAVAILABLE`;

/**
 * In a process group of its own: processes that a test leaves behind, being killed or at fault, end with it.
 *
 * @returns {Promise<number>} exit code
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
