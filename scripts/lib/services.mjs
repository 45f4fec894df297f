/**
 * Kafka and Redis for tests: from the environment, else as containers, else installed here.
 *
 * @typedef {{ address: string, started: boolean }} Up `started`: by this call
 * @typedef {{ reason: string }} Unavailable
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { engineAnswers, removeContainer, removeNetwork, startContainer } from './compose.mjs';
import { kafka } from './kafka.mjs';
import { withLock } from './lock.mjs';
import { freePort } from './network.mjs';
import { dataFolder } from './places.mjs';
import { isInterrupted, isRunning, stopServer, waitUntilReady } from './processes.mjs';
import { redis } from './redis.mjs';
import { readState, remember } from './state.mjs';

export const SERVICES = { kafka, redis };

const CONTAINER_TIMEOUT_MS = 60_000;

// Beside the data folder, which `down` removes.
const lockFile = `${dataFolder}.lock`;

/**
 * Starts the other services even if one can't be had. After an interruption, stops all of them and rejects.
 *
 * @param {(keyof SERVICES)[]} wanted
 * @returns {Promise<Record<string, Up | Unavailable>>}
 */
export function up(wanted) {
  return withLock(lockFile, async () => {
    /** @type {Promise<boolean> | undefined} */
    let engine;
    const hasEngine = () => (engine ??= engineAnswers());
    const upOne = async (name) => {
      try {
        return await ensureUp(name, hasEngine);
      } catch (error) {
        return { reason: `${SERVICES[name].name} can't be had: ${error.message}` };
      }
    };
    const outcomes = await Promise.all(wanted.map(upOne));
    if (isInterrupted()) {
      await Promise.all(wanted.filter((_, index) => outcomes[index].started).map(stop));
      removeDataFolder();
      throw new Error('Interrupted.');
    }
    return Object.fromEntries(wanted.map((name, index) => [name, outcomes[index]]));
  });
}

/** Stops what `up` started, and removes its data. */
export async function down(names = Object.keys(SERVICES)) {
  await withLock(lockFile, async () => {
    await Promise.all(names.map(stop));
    removeDataFolder();
  });
}

/** @returns {Promise<Record<string, string>>} one line for each service that runs */
export async function status() {
  const lines = {};
  for (const [name, service] of Object.entries(SERVICES)) {
    const given = process.env[service.variable];
    const entry = readState()[name];
    if (given) {
      if (await service.reaches(given)) lines[name] = `${service.variable} of the environment, reachable`;
    } else if (await isUp(service, entry)) {
      const how = entry.how === 'process' ? `process ${entry.pid}` : 'container';
      lines[name] = `${service.addressAt(entry.port)}, ${how}`;
    }
  }
  return lines;
}

/** @returns {Promise<Up>} */
async function ensureUp(name, hasEngine) {
  const service = SERVICES[name];
  const given = process.env[service.variable];
  if (given) {
    if (await service.reaches(given)) return { address: given, started: false };
    throw new Error(`${service.variable} is set, but no server accepts connections there.`);
  }
  const old = readState()[name];
  if (await isUp(service, old)) return { address: service.addressAt(old.port), started: false };
  // The server may run without answering: it hangs, or its start was interrupted.
  if (old !== undefined) await stop(name);
  const port = await freePort();
  if ((await hasEngine()) && (await startedInContainer(name, port))) {
    return { address: service.addressAt(port), started: true };
  }
  await service.install();
  console.error(`Starting ${service.name} …`);
  const ports = { port, controllerPort: await freePort() };
  try {
    await service.start(ports, (identity) => remember(name, { how: 'process', ...identity, ...ports }));
  } catch (error) {
    await stop(name);
    throw error;
  }
  return { address: service.addressAt(port), started: true };
}

/** @returns {Promise<boolean>} false if the engine can't run the service, for instance without its image */
async function startedInContainer(name, port) {
  const service = SERVICES[name];
  console.error(`Starting ${service.name} in a container …`);
  remember(name, { how: 'container', port });
  try {
    await startContainer(name, port);
    await waitUntilReady(() => service.answers({ port }), {
      name: service.name,
      timeoutMs: CONTAINER_TIMEOUT_MS,
    });
    return true;
  } catch (error) {
    console.error(`${service.name} does not run in a container (${error.message}); trying without.`);
    await stop(name);
    return false;
  }
}

function removeDataFolder() {
  if (Object.keys(readState()).length === 0) rmSync(dataFolder, { recursive: true, force: true });
}

async function isUp(service, entry) {
  if (entry === undefined) return false;
  if (entry.how === 'process' && !isRunning(entry)) return false;
  return service.answers(entry);
}

async function stop(name) {
  const entry = readState()[name];
  if (entry === undefined) return;
  if (entry.how === 'process') await stopServer(entry);
  else await removeContainer(name, entry.port);
  rmSync(path.join(dataFolder, name), { recursive: true, force: true });
  remember(name, undefined);
  const containersLeft = Object.values(readState()).some(({ how }) => how === 'container');
  if (entry.how === 'container' && !containersLeft) await removeNetwork();
}
