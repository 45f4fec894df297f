/**
 * The results of a run: a file with a line of JSON for the run, then one for each mutant and phase, in the order in
 * which they were tried. A later line of a mutant replaces an earlier one.
 *
 * @typedef {object} Result
 * @property {string} id
 * @property {1 | 2} phase
 * @property {'killed' | 'timeout' | 'survived' | 'unreached'} outcome
 * @property {string} [by] the tests that have killed it
 * @property {string} original the code, in one line
 * @property {string} replacement
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export const isKilled = ({ outcome }) => outcome === 'killed' || outcome === 'timeout';

export class Results {
  /** @type {{ commit: string, seed: string, count: number }} */
  run;
  /** @type {Map<string, Result>} */
  byId = new Map();
  #file;

  constructor(file, lines) {
    this.#file = file;
    const [run, ...results] = lines;
    this.run = run;
    for (const result of results) this.byId.set(result.id, result);
  }

  /** @param {string} file */
  static read(file) {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return new Results(
      file,
      lines.map((line) => JSON.parse(line)),
    );
  }

  /** Continues a file of results, or begins it. @param {string} file @param {Results['run']} run */
  static resume(file, run) {
    if (!existsSync(file)) {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, `${JSON.stringify(run)}\n`);
    }
    const results = Results.read(file);
    if (JSON.stringify(results.run) !== JSON.stringify(run)) {
      const said = [run, results.run].map((one) => JSON.stringify(one));
      throw new Error(`${file}: expected the results of ${said[0]}, got those of ${said[1]}.`);
    }
    return results;
  }

  /** @param {import('./choice.mjs').Mutant} mutant @param {1 | 2} phase */
  add({ id, original, replacement }, phase, { outcome, by }) {
    const result = { id, phase, outcome, by, original, replacement };
    this.byId.set(id, result);
    appendFileSync(this.#file, `${JSON.stringify(result)}\n`);
  }

  /** @param {string} id @param {1 | 2} phase @returns {boolean} */
  isOpen(id, phase) {
    const result = this.byId.get(id);
    if (result === undefined) return phase === 1;
    return result.phase < phase && !isKilled(result);
  }
}
