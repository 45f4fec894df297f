/**
 * Real Kafka and Redis for tests, and the programs that tests want: `scripts/services up|down|status`.
 * Standard output is for programs; text for people goes to standard error.
 */
import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { apicurio } from './lib/apicurio.mjs';
import { readArguments } from './lib/arguments.mjs';
import { ensureCommands, findCommand } from './lib/commands.mjs';
import { freePort, LOOPBACK } from './lib/network.mjs';
import { interrupt } from './lib/processes.mjs';
import { runBuilt } from './lib/run-built.mjs';
import { down, SERVICES, status, up } from './lib/services.mjs';

const USAGE = `Usage: scripts/services up [--only <part,…>]   starts what does not run; prints KAFKA_BROKERS=… and REDIS_URL=…
       scripts/services down                   stops what up started, and removes its data
       scripts/services status                 says what runs; ends with 1 unless all of it does
       scripts/services redis-cluster          three masters and replicas, as the tests have them, until it is interrupted;
                                               prints REDIS_CLUSTER=…
       scripts/services redis-sentinel         likewise three Sentinels, a master and two replicas; prints REDIS_SENTINELS=…
                                               and REDIS_SENTINEL_MASTER=…
       scripts/services registry               likewise a schema registry, Apicurio with its store in memory; prints
                                               SCHEMA_REGISTRY_URL=…

Parts: kafka, redis, and the programs kcat, chromium and redis-server.
Kafka and Redis come from KAFKA_BROKERS and REDIS_URL where these are set, else from Docker, else they are installed.`;

const PROGRAMS = ['kcat', 'chromium', 'redis-server'];

const ACTIONS = {
  up: bringUp,
  down: () => down(),
  status: tell,
  'redis-cluster': runTopology,
  'redis-sentinel': runTopology,
  registry: runRegistry,
};

/** Runs in this process, so that the servers end with it. */
async function runTopology() {
  await ensureCommands('redis-server');
  await runBuilt('test/helpers/redis-cli.js');
}

/** Ends with this process. */
async function runRegistry() {
  const [jar, port] = [await apicurio(), await freePort()];
  const settings = [`-Dquarkus.http.port=${port}`, `-Dquarkus.http.host=${LOOPBACK}`];
  const child = spawn(findCommand('java'), [...settings, '-jar', jar], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill());
  child.once('exit', (code) => process.exit(code ?? 0));
  const url = `http://${LOOPBACK}:${port}/apis/ccompat/v7`;
  while (
    !(await fetch(`${url}/schemas/types`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await setTimeout(200);
  console.log(`SCHEMA_REGISTRY_URL=${url}`);
}

async function bringUp({ only }) {
  const known = [...Object.keys(SERVICES), ...PROGRAMS];
  const parts = only?.split(',') ?? known;
  const unknown = parts.filter((part) => !known.includes(part));
  if (unknown.length > 0) fail(`Expected some of ${known.join(', ')}, got ${unknown.join(', ')}.`);

  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, interrupt);
  const wanted = Object.keys(SERVICES).filter((name) => parts.includes(name));
  const outcomes = await up(wanted);
  const failed = Object.values(outcomes).filter((outcome) => 'reason' in outcome);
  if (failed.length > 0) {
    await down(wanted.filter((name) => outcomes[name].started));
    fail(failed.map(({ reason }) => reason).join('\n'));
  }
  for (const program of PROGRAMS.filter((name) => parts.includes(name))) {
    try {
      await ensureCommands(program);
    } catch (error) {
      // Services are useful without programs, unless the user asked for the parts by name.
      if (only !== undefined) fail(error.message);
      console.error(`Without ${program}: ${error.message}`);
    }
  }
  for (const name of wanted) console.log(`${SERVICES[name].variable}=${outcomes[name].address}`);
}

async function tell() {
  const running = await status();
  for (const [name, service] of Object.entries(SERVICES)) {
    console.log(`${service.name}: ${running[name] ?? 'does not run'}`);
    if (running[name] === undefined) process.exitCode = 1;
  }
}

/** @returns {never} */
function fail(reason) {
  console.error(reason);
  process.exit(1);
}

const { values: options, positionals } = readArguments(USAGE, {
  options: { only: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  words: 1,
});
const [name] = positionals;
const action = name !== undefined && Object.hasOwn(ACTIONS, name) && ACTIONS[name];
if (options.help) console.log(USAGE);
else if (!action) fail(USAGE);
else await action(options).catch((error) => fail(error.message));
