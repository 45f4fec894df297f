/** Services and programs for tests, as `npm test` has them. What can't be had leaves its tests out. */
import { ensureCommands, findCommand } from '../commands.mjs';
import { jars, kafka } from '../kafka.mjs';
import { down, SERVICES, up } from '../services.mjs';

const PROGRAMS = ['kcat', 'chromium', 'redis-server', 'curl'];

/**
 * @template T
 * @param {(env: NodeJS.ProcessEnv) => Promise<T>} task
 * @returns {Promise<T>}
 */
export async function withServices(task) {
  const outcomes = await up(Object.keys(SERVICES));
  try {
    return await task(await environment(outcomes));
  } finally {
    await down(Object.keys(outcomes).filter((name) => outcomes[name].started));
  }
}

async function environment(outcomes) {
  const env = {};
  for (const [name, outcome] of Object.entries(outcomes)) {
    env[SERVICES[name].variable] = outcome.address ?? '';
    if ('reason' in outcome) env[unavailable(name)] = outcome.reason;
  }
  for (const name of PROGRAMS) {
    await ensureCommands(name).catch((error) => (env[unavailable(name)] = error.message));
  }
  await kafka.install().then(
    () => (env.KAFKA_JARS = jars),
    (error) => (env.KAFKA_JARS_UNAVAILABLE = error.message),
  );
  for (const [name, reason] of Object.entries(env)) if (name.endsWith('_UNAVAILABLE')) console.error(reason);
  return { ...env, CHROMIUM: process.env.CHROMIUM || findCommand('chromium') || '' };
}

const unavailable = (name) => `${name.toUpperCase().replaceAll('-', '_')}_UNAVAILABLE`;
