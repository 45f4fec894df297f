/** Fetches or builds a folder once for all clones of this user. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withLock } from './lock.mjs';

/**
 * Does the task unless an earlier run has completed it.
 *
 * @param {string} folder the folder in the cache that the task makes
 * @param {() => Promise<void>} task
 */
export async function onceInCache(folder, task) {
  const mark = path.join(folder, '.whole');
  await withLock(`${folder}.lock`, async () => {
    if (existsSync(mark)) return;
    await task();
    writeFileSync(mark, '');
  });
}
