/** Programs that services and tests need: finds them, or installs them if that is possible without asking the user. */
import { accessSync, constants, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withLock } from './lock.mjs';
import { cacheFolder } from './places.mjs';
import { run } from './processes.mjs';

/** The Debian package of each command. */
const PACKAGES = {
  java: 'default-jre-headless',
  javac: 'default-jdk-headless',
  mvn: 'maven',
  'redis-server': 'redis-server',
  kcat: 'kcat',
  chromium: 'chromium',
  curl: 'curl',
  nginx: 'nginx-light',
};

/** Other names of the same program. */
const ALIASES = { chromium: ['chromium-browser', 'google-chrome', 'google-chrome-stable'] };

/** Package scripts ask this program whether they may start the server that they have installed. */
const POLICY = '/usr/sbin/policy-rc.d';

/**
 * @param {keyof typeof PACKAGES} name
 * @returns {string | undefined} the path of the program
 */
export function findCommand(name) {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return [name, ...(ALIASES[name] ?? [])]
    .flatMap((alias) => folders.map((folder) => path.join(folder, alias)))
    .find(isExecutable);
}

/**
 * Installs the missing ones of the commands.
 *
 * @param {(keyof typeof PACKAGES)[]} names
 */
export async function ensureCommands(...names) {
  if (missing(names).length === 0) return;
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) {
    const wanted = missing(names).join(', ');
    throw new Error(`${wanted} not found on the PATH; installing takes root on Debian. Install by hand.`);
  }
  await withLock(path.join(cacheFolder, 'apt.lock'), async () => {
    const packages = missing(names).map((name) => PACKAGES[name]);
    if (packages.length === 0) return;
    console.error(`Installing ${packages.join(', ')} …`);
    await withoutStartingServers(async () => {
      await install(packages).catch(async () => {
        // The package lists may be missing, as in a new container, or too old.
        await apt('update', '-q');
        await install(packages);
      });
    });
  });
}

const missing = (names) => names.filter((name) => findCommand(name) === undefined);

const install = (packages) => apt('install', '-q', '-y', '--no-install-recommends', ...packages);

const apt = (...args) =>
  run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], { env: { DEBIAN_FRONTEND: 'noninteractive' } });

/** Debian starts a server when its package is installed, and no script would stop that server. */
async function withoutStartingServers(task) {
  if (existsSync(POLICY)) return task();
  const restore = () => rmSync(POLICY, { force: true });
  process.once('exit', restore);
  writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return await task();
  } finally {
    process.off('exit', restore);
    restore();
  }
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
