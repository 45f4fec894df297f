/** Reports on results: the score of each file, the survivors, and the difference between two files of results. */
import { isKilled } from './results.mjs';

/** @param {import('./results.mjs').Results} results @returns {string} */
export function scoreOf({ run, byId }) {
  const all = [...byId.values()];
  const count = (outcome) => all.filter((result) => result.outcome === outcome).length;
  const killed = all.filter(isKilled).length;
  const percent = all.length === 0 ? 0 : (100 * killed) / all.length;
  const second = all.filter(({ phase }) => phase === 2).length;
  return (
    `${run.commit}, seed ${run.seed}: ${all.length} of ${run.count} mutants tried, ${killed} killed ` +
    `(${percent.toFixed(1)} %, ${count('timeout')} of them by a timeout), ${count('survived')} survived, ` +
    `${count('unreached')} not reached; ${second} tried with services`
  );
}

/** @returns {string[]} a line for each mutant that is not killed */
export function survivorsOf({ byId }) {
  return [...byId.values()]
    .filter((result) => !isKilled(result))
    .map(lineOf)
    .toSorted();
}

/**
 * @param {import('./results.mjs').Results} before
 * @param {import('./results.mjs').Results} after
 * @returns {{ compared: number, lost: string[], gained: string[] }} `lost`: killed before, but not now
 */
export function difference(before, after) {
  const both = [...after.byId.values()].filter(({ id }) => before.byId.has(id));
  const wasKilled = ({ id }) => isKilled(before.byId.get(id));
  return {
    compared: both.length,
    lost: both
      .filter((result) => wasKilled(result) && !isKilled(result))
      .map((result) => `${lineOf(result)}, before ${before.byId.get(result.id).by}`)
      .toSorted(),
    gained: both
      .filter((result) => !wasKilled(result) && isKilled(result))
      .map((result) => `${lineOf(result)}, now ${result.by}`)
      .toSorted(),
  };
}

function lineOf({ id, phase, outcome, original, replacement }) {
  const [file, line, , mutator] = id.split(':');
  return `src/${file}:${line} ${mutator} ${outcome} in phase ${phase}: ${original} → ${replacement}`;
}
