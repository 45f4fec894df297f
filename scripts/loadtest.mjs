/**
 * `node scripts/loadtest.mjs <program> [arguments]`: installs and builds what is missing, brings Kafka and Redis up,
 * runs a program of `dist/loadtest` with them, and stops what this run has started.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import path from 'node:path';
import { ensureAll, root } from './ensure.mjs';
import { ensureCommands } from './lib/commands.mjs';
import { interrupt } from './lib/processes.mjs';
import { down, SERVICES, up } from './lib/services.mjs';

const [program, ...args] = process.argv.slice(2);

await ensureAll();

/** @type {import('node:child_process').ChildProcess | undefined} */
let child;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    // What runs cleans up after itself; services that are being started are given up.
    if (child === undefined) interrupt();
    else child.kill(signal);
  });
}

async function main() {
  if (args.includes('--help')) return run({});
  const outcomes = await up(Object.keys(SERVICES));
  const started = Object.keys(outcomes).filter((name) => outcomes[name].started);
  try {
    const env = {};
    for (const [name, outcome] of Object.entries(outcomes)) {
      if ('reason' in outcome) throw new Error(outcome.reason);
      env[SERVICES[name].variable] = outcome.address;
    }
    await ensureCommands('kcat');
    return await run(env);
  } finally {
    if (started.length > 0) await down(started);
  }
}

async function run(env) {
  child = spawn(
    process.execPath,
    ['--enable-source-maps', path.join(root, 'dist/loadtest', program), ...args],
    {
      env: { ...process.env, ...env },
      stdio: 'inherit',
    },
  );
  const [code, signal] = await once(child, 'exit');
  return signal === null ? code : 128 + constants.signals[signal];
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
