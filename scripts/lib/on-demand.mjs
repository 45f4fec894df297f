/** Packages that are too large, or too rarely needed, to be installed with the others. */
import { existsSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../ensure.mjs';
import { withLock } from './lock.mjs';
import { cacheFolder, cloneName } from './places.mjs';
import { interrupt, run } from './processes.mjs';

const DOWNLOAD_TIMEOUT_MS = 600_000;

/**
 * Fetches packages at their first use, and writes the path that `answer` makes of their folder to standard output.
 *
 * @param {{ name: string, packages: readonly string[], shared?: readonly string[] }} wanted `name` of the folder; `packages`
 *   with their versions; `shared`: packages of this clone that they get in place of copies of their own, in a folder for this clone
 * @param {(folder: string) => string} answer
 */
export async function fetchOnDemand({ name, packages, shared = [] }, answer) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupt);
  const folder = path.join(cacheFolder, shared.length > 0 ? `${name}-${cloneName}` : name);
  try {
    if (!existsSync(folder)) {
      await withLock(path.join(cacheFolder, `${name}.lock`), async () => {
        if (!existsSync(folder)) await download(folder, packages, shared);
      });
    }
    console.log(answer(folder));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

/** Downloads to a temporary folder, which gets its final name only when all packages are in it. */
async function download(folder, packages, shared) {
  console.error(`Downloading ${packages.join(', ')} to ${folder} …`);
  const work = mkdtempSync(`${folder}-`);
  try {
    writeFileSync(path.join(work, 'package.json'), '{ "private": true }');
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages];
    await run('npm', args, { cwd: work, timeoutMs: DOWNLOAD_TIMEOUT_MS });
    for (const one of shared) share(work, one);
    renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function share(folder, name) {
  const place = path.join(folder, 'node_modules', name);
  rmSync(place, { recursive: true, force: true });
  symlinkSync(path.join(root, 'node_modules', name), place);
}
