/** Chooses the mutants of a run, by a seed and by ids that stay the same while `src` does. */
import { createHash } from 'node:crypto';

/** The most characters that are kept of the code before and after. */
const TEXT = 100;

/**
 * @typedef {object} Mutant
 * @property {string} id
 * @property {string} file below `src`
 * @property {number} line
 * @property {string} mutator
 * @property {string} original the code that is replaced, in one line, shortened
 * @property {string} replacement
 */

/**
 * @param {object} mutant as Stryker describes it: lines and columns from 0
 * @returns {string} for instance `hub/group.ts:12:5:EqualityOperator:1f0c3a2b`
 */
export function idOf({ fileName, location: { start, end }, mutatorName, replacement }) {
  const rest = digest(`${end.line}:${end.column}:${replacement}`).slice(0, 8);
  return `${fileName}:${start.line + 1}:${start.column + 1}:${mutatorName}:${rest}`;
}

/**
 * A larger count with the same seed gives the same mutants, and then more.
 *
 * @param {string[]} ids
 * @returns {string[]} in the order in which they are tried, so that the first ones are a sample too
 */
export function choose(ids, { seed, count }) {
  return [...new Set(ids)]
    .map((id) => [digest(`${seed} ${id}`), id])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, count)
    .map(([, id]) => id);
}

/**
 * @param {object} mutant as Stryker describes it
 * @param {string} content of its file
 * @returns {Mutant}
 */
export function describe({ id, fileName, location: { start, end }, mutatorName, replacement }, content) {
  const lines = content.split('\n').slice(start.line, end.line + 1);
  const last = lines.length - 1;
  lines[last] = lines[last].slice(0, end.column);
  lines[0] = lines[0].slice(start.column);
  return {
    id,
    file: fileName,
    line: start.line + 1,
    mutator: mutatorName,
    original: inOneLine(lines.join('\n')),
    replacement: inOneLine(replacement),
  };
}

function inOneLine(code) {
  const line = code.replaceAll(/\s+/g, ' ');
  return line.length > TEXT ? `${line.slice(0, TEXT)}…` : line;
}

const digest = (text) => createHash('sha256').update(text).digest('hex');
