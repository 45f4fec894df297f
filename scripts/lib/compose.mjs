/** The same services as containers, if a Docker engine answers. */
import path from 'node:path';
import { root } from '../ensure.mjs';
import { composeProject } from './places.mjs';
import { run } from './processes.mjs';

const ANSWER_TIMEOUT_MS = 5_000;

/** @returns {Promise<boolean>} */
export async function engineAnswers() {
  try {
    await run('docker', ['version', '--format', '{{.Server.Version}}'], { timeoutMs: ANSWER_TIMEOUT_MS });
    await run('docker', ['compose', 'version'], { timeoutMs: ANSWER_TIMEOUT_MS });
    return true;
  } catch {
    return false;
  }
}

/** @param {'kafka' | 'redis'} service */
export const startContainer = (service, port) => compose(service, port, 'up', '--detach', service);

/** @param {'kafka' | 'redis'} service */
export const removeContainer = (service, port) =>
  compose(service, port, 'rm', '--force', '--stop', '--volumes', service);

/** To be called when the last container is removed. */
export const removeNetwork = () => compose('kafka', 1, 'down', '--volumes', '--remove-orphans');

function compose(service, port, ...args) {
  // The file names both ports; the port of the other service does not matter here.
  const env = { KAFKA_PORT: '1', REDIS_PORT: '1', [`${service.toUpperCase()}_PORT`]: String(port) };
  const file = path.join(root, 'compose.test.yaml');
  return run('docker', ['compose', '--file', file, '--project-name', composeProject, ...args], {
    env,
    cleansUp: args[0] !== 'up',
  });
}
