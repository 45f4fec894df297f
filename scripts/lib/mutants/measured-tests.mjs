/** The time and the reached mutants of each test file, without an active mutant: measured and kept once for a tree. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isInterrupted } from '../processes.mjs';
import { check } from './checks.mjs';

/** Slower files are useless: a mutant gets three minutes of tests with services. */
const LIMIT_MS = 180_000;

/**
 * @typedef {object} Measured
 * @property {number} seconds of the file's process
 * @property {number} tests in the file
 * @property {string[]} reached ids of mutants
 * @property {string} [failure] without a mutant: the file can't find any then
 */

export class MeasuredTests {
  #tree;
  /** @type {Record<string, Measured>} */
  #tests;

  /** @param {import('./tree.mjs').Tree} tree */
  constructor(tree) {
    this.#tree = tree;
    this.#tests = existsSync(tree.testsFile) ? JSON.parse(readFileSync(tree.testsFile, 'utf8')) : {};
  }

  /**
   * @param {string[]} names
   * @param {object} options
   * @param {NodeJS.ProcessEnv} options.env
   * @param {() => boolean} options.isOver
   */
  async measure(names, { env, isOver }) {
    const missing = names.filter((name) => !Object.hasOwn(this.#tests, name));
    for (const [index, name] of missing.entries()) {
      if (isOver()) return;
      this.#tree.watch();
      const { failure, tests, seconds } = await check(this.#tree, [name], { limitMs: LIMIT_MS, env });
      if (isInterrupted()) return;
      this.#tests[name] = { seconds, tests, reached: this.#tree.reached(), failure };
      this.#save();
      const said = failure === undefined ? '' : `, which is left out, since it fails: ${failure}`;
      console.log(`reached by ${name} (${index + 1} of ${missing.length}), ${seconds.toFixed(1)} s${said}`);
    }
  }

  /** @param {string[]} names @param {string} id @returns {string[]} the names of files that reach the mutant */
  reaching(names, id) {
    return names.filter((name) => {
      const test = this.#tests[name];
      return test !== undefined && test.failure === undefined && test.reached.includes(id);
    });
  }

  secondsOf = (name) => this.#tests[name].seconds;

  /** @returns {number} the number of tests in these files */
  testsOf(names) {
    return names.reduce((sum, name) => sum + this.#tests[name].tests, 0);
  }

  #save() {
    const file = this.#tree.testsFile;
    writeFileSync(`${file}.new`, JSON.stringify(this.#tests, undefined, 1));
    renameSync(`${file}.new`, file);
  }
}
