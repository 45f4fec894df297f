/** What is fetched or built once for all clones of this user. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withLock } from './lock.mjs';

/**
 * Does the task unless an earlier run has done all of it.
 *
 * @param {string} folder in the cache, which the task makes
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
