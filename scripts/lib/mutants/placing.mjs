/** Puts the chosen mutants into the sources of a tree. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { choose, describe } from './choice.mjs';
import { instrument } from './instrumenter.mjs';

/** Folders of `src` in which a fault could lose, double or disclose something. */
const FOLDERS = ['hub', 'bus', 'ingest', 'transports', 'auth', 'executor', 'lazy'];

/** Stryker's names for the functions that the instrumented code calls. */
const [IS_ACTIVE, COVER] = ['stryMutAct_9fa48', 'stryCov_9fa48'];

/**
 * Instruments the sources of a tree in place.
 *
 * @param {string} src
 * @param {{ seed: string, count: number }} choice
 * @returns {Promise<import('./choice.mjs').Mutant[]>} in the order of the choice
 */
export async function place(src, { seed, count }) {
  const names = FOLDERS.flatMap((folder) =>
    readdirSync(path.join(src, folder), { recursive: true }).map((name) => path.join(folder, name)),
  );
  const files = names
    .filter((name) => name.endsWith('.ts'))
    .toSorted()
    .map((name) => ({ name, content: readFileSync(path.join(src, name), 'utf8') }));
  const { mutants } = await instrument(files, () => true);
  const ids = choose(
    mutants.map(({ id }) => id),
    { seed, count },
  );
  const contents = new Map(files.map(({ name, content }) => [name, content]));
  const byId = new Map(mutants.map((mutant) => [mutant.id, mutant]));
  const chosen = ids.map((id) => describe(byId.get(id), contents.get(byId.get(id).fileName)));
  const touched = new Set(chosen.map(({ file }) => file));
  const instrumented = await instrument(
    files.filter(({ name }) => touched.has(name)),
    (id) => ids.includes(id),
  );
  copyFileSync(path.join(import.meta.dirname, 'mutant-switch.mjs'), path.join(src, 'mutant-switch.js'));
  for (const { name, content } of instrumented.files) {
    const up = '../'.repeat(name.split('/').length - 1);
    const header = `import { isActive as ${IS_ACTIVE}, cover as ${COVER} } from '${up}mutant-switch.js';`;
    writeFileSync(path.join(src, name), `${header} ${content}`);
  }
  return chosen;
}
