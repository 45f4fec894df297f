/** Services and programs for tests. If one can't be had, the tests that need it are skipped, with the reason. */
import { CLIENT_TOOLS } from './client-tools.mjs';
import { ensureCommands, findCommand } from './commands.mjs';
import { DEPLOY_TOOLS } from './deploy-tools.mjs';
import { jars, kafka } from './kafka.mjs';
import { down, SERVICES, up } from './services.mjs';

const PROGRAMS = ['kcat', 'chromium', 'redis-server', 'curl'];

/**
 * Ends the services that this call has started when the task ends.
 *
 * @template T
 * @param {{ services: boolean, deployTools?: boolean, clientTools?: boolean }} needs
 * @param {(env: Record<string, string>) => Promise<T>} task gets the address of each service, or why it can't be had
 * @returns {Promise<T>}
 */
export async function withServices({ services, deployTools = false, clientTools = false }, task) {
  const outcomes = services ? await up(Object.keys(SERVICES)) : {};
  try {
    const env = services ? await environment(outcomes) : {};
    if (deployTools) Object.assign(env, await tools(DEPLOY_TOOLS));
    if (clientTools) Object.assign(env, await tools(CLIENT_TOOLS));
    for (const [name, reason] of Object.entries(env)) if (name.endsWith(UNAVAILABLE)) console.error(reason);
    return await task(env);
  } finally {
    const started = Object.keys(outcomes).filter((name) => outcomes[name].started);
    if (started.length > 0) await down(started);
  }
}

async function environment(outcomes) {
  const env = {};
  for (const [name, outcome] of Object.entries(outcomes)) {
    env[SERVICES[name].variable] = outcome.address ?? '';
    if ('reason' in outcome) env[variable(name) + UNAVAILABLE] = outcome.reason;
  }
  const programs = PROGRAMS.map((name) => [name, () => ensureCommands(name)]);
  Object.assign(env, await tools(Object.fromEntries(programs)));
  // For tests that start a broker of their own, with TLS and passwords, even if the shared one is elsewhere.
  Object.assign(env, await tools({ 'kafka-jars': () => kafka.install().then(() => jars) }));
  return { ...env, CHROMIUM: process.env.CHROMIUM || findCommand('chromium') || '' };
}

/** @param {Record<string, () => Promise<string | void>>} known functions by tool: each installs its tool */
async function tools(known) {
  const env = {};
  for (const [name, ensure] of Object.entries(known)) {
    try {
      const place = await ensure();
      if (place !== undefined) env[variable(name)] = place;
    } catch (error) {
      env[variable(name) + UNAVAILABLE] = error.message;
    }
  }
  return env;
}

const UNAVAILABLE = '_UNAVAILABLE';

const variable = (name) => name.toUpperCase().replaceAll('-', '_');
