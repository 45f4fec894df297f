/**
 * node-clinic, which is too large to be installed with the other packages: 694 packages, 157 MB. `node
 * scripts/lib/clinic.mjs` fetches it at its first use, and writes the path of its program to standard output.
 */
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withLock } from './lock.mjs';
import { cacheFolder } from './places.mjs';
import { interrupt, run } from './processes.mjs';

const VERSION = '13.0.0';
const DOWNLOAD_TIMEOUT_MS = 600_000;

const folder = path.join(cacheFolder, `clinic-${VERSION}`);

async function install() {
  if (existsSync(folder)) return;
  await withLock(path.join(cacheFolder, 'clinic.lock'), async () => {
    if (!existsSync(folder)) await download();
  });
}

/** Downloads to a temporary folder, which gets its final name only when all packages are in it. */
async function download() {
  console.error(`Downloading node-clinic ${VERSION} to ${folder} …`);
  const work = mkdtempSync(path.join(cacheFolder, 'clinic-'));
  try {
    writeFileSync(path.join(work, 'package.json'), '{ "private": true }');
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `clinic@${VERSION}`];
    await run('npm', args, { cwd: work, timeoutMs: DOWNLOAD_TIMEOUT_MS });
    renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupt);
try {
  await install();
  console.log(path.join(folder, 'node_modules/clinic/bin.js'));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
