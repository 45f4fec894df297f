/**
 * `yarn loadtest <command> [arguments]`: installs and builds what is missing, and runs the command. For a command that
 * needs Kafka and Redis, starts them before and stops them afterwards, unless they ran already.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import path from 'node:path';
import { ensureAll, root } from './ensure.mjs';
import { ensureCommands, findCommand } from './lib/commands.mjs';
import { interrupt } from './lib/processes.mjs';
import { down, SERVICES, up } from './lib/services.mjs';

const args = process.argv.slice(2);

const FOLDER = path.join(root, 'dist/loadtest');

await ensureAll();

/** @type {import('node:child_process').ChildProcess | undefined} */
let child;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    // The command cleans up after itself; the start of services is given up.
    if (child === undefined) interrupt();
    else child.kill(signal);
  });
}

async function main() {
  const programs = await programsWanted();
  if (programs === undefined) return run({});
  const outcomes = await up(Object.keys(SERVICES));
  const started = Object.keys(outcomes).filter((name) => outcomes[name].started);
  try {
    const env = {};
    for (const [name, outcome] of Object.entries(outcomes)) {
      if ('reason' in outcome) throw new Error(outcome.reason);
      env[SERVICES[name].variable] = outcome.address;
    }
    await ensureCommands('kcat', ...programs);
    for (const name of programs) env[name.toUpperCase().replaceAll('-', '_')] = findCommand(name);
    return await run(env);
  } finally {
    if (started.length > 0) await down(started);
  }
}

/** @returns undefined if no services are needed, also if the program will refuse the command line */
async function programsWanted() {
  const { readCommandLine } = await import(path.join(FOLDER, 'commands.js'));
  const invocation = await readCommandLine(args).catch(() => ({}));
  return invocation.needsServices === true ? invocation.programs : undefined;
}

async function run(env) {
  child = spawn(process.execPath, ['--enable-source-maps', path.join(FOLDER, 'cli.js'), ...args], {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  const [code, signal] = await once(child, 'exit');
  return signal === null ? code : 128 + constants.signals[signal];
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
