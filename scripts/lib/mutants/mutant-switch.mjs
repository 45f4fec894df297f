/**
 * Copied into the instrumented copy as `dist/src/mutant-switch.js`: tells its code which mutant is active. It reads a
 * file and not the environment, since tests start gateways with few variables of their own.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** @type {{ active?: string, reachedFile?: string }} */
const { active, reachedFile } = read(path.join(import.meta.dirname, '../../../switch.json'));

const reached = new Set();

export const isActive = (id) => id === active;

/** Writes at once, since a gateway may be killed. */
export function cover(...ids) {
  if (reachedFile === undefined) return;
  for (const id of ids) {
    if (reached.has(id)) continue;
    reached.add(id);
    appendFileSync(reachedFile, `${id}\n`);
  }
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // Tests that copy `dist` elsewhere have no such file.
    if (error.code === 'ENOENT') return {};
    throw error;
  }
}
