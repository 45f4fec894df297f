/** Clients in other languages than JavaScript, for `npm run test:all -- clients`. Built when their sources change. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { root } from '../ensure.mjs';
import { apicurio } from './apicurio.mjs';
import { ensureCommands, findCommand } from './commands.mjs';
import { onceInCache } from './once-in-cache.mjs';
import { cacheFolder } from './places.mjs';
import { run } from './processes.mjs';

const BUILD_TIMEOUT_MS = 300_000;

/** Functions by client: each builds its client, and resolves to its path. Rejects with the reason if it can't. */
export const CLIENT_TOOLS = {
  'gql-python': () => built('python', installPython, 'bin/python'),
  genqlient: () => built('go', buildGo, 'client'),
  'spring-client': () => built('spring', buildSpring),
  'kafka-python': () => built('kafka-python', installPython, 'bin/python'),
  apicurio,
};

async function installPython(folder, sources) {
  const python = needed('python3');
  // Made in its final folder, since the paths in it are absolute.
  await run(python, ['-m', 'venv', folder]);
  const install = ['install', '--quiet', '--requirement', path.join(sources, 'requirements.txt')];
  await run(path.join(folder, 'bin/pip'), install, { timeoutMs: BUILD_TIMEOUT_MS });
}

async function buildGo(folder, sources) {
  const args = ['build', '-o', path.join(folder, 'client'), '.'];
  await run(needed('go'), args, { cwd: sources, timeoutMs: BUILD_TIMEOUT_MS });
}

async function buildSpring(folder, sources) {
  await ensureCommands('java', 'mvn', 'javac');
  cpSync(sources, folder, { recursive: true });
  const goals = ['compile', 'dependency:copy-dependencies', '-DincludeScope=runtime'];
  const args = ['-q', '-B', ...goals, '-DoutputDirectory=target/lib'];
  await run(findCommand('mvn'), args, { cwd: folder, timeoutMs: BUILD_TIMEOUT_MS });
}

/**
 * @param {string} name folder of test/clients
 * @param {(folder: string, sources: string) => Promise<void>} build
 * @param {string} [result] the file or folder that `build` makes
 */
async function built(name, build, result = 'target') {
  const sources = path.join(root, 'test/clients', name);
  const folder = path.join(cacheFolder, `client-${name}-${fingerprint(sources)}`);
  await onceInCache(folder, async () => {
    console.error(`Building the client in test/clients/${name} …`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await build(folder, sources);
  });
  return path.join(folder, result);
}

function fingerprint(folder) {
  const hash = createHash('sha256');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    hash.update(`${path.relative(folder, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 16);
}

function needed(command) {
  const found = findCommand(command);
  if (found === undefined) throw new Error(`${command} not found on the PATH.`);
  return found;
}
