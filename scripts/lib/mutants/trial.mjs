/** Runs the tests that reach a mutant, until the first one fails. */
import { readFileSync } from 'node:fs';
import { check, SIMULATION } from './checks.mjs';
import { costOf, groups, nearestFirst } from './order.mjs';
import { fileOf, inProcessTests, isSlow, isUnit, serviceTests } from './test-names.mjs';

/** A process may take this time, plus TIMES what its tests take without the mutant, since the machine may be busy. */
const FLOOR_MS = 20_000;
const TIMES = 5;

/** The most test files with services for each mutant. */
const MOST_FILES = 10;
const MOST_SECONDS = 180;

/**
 * @typedef {{ outcome: 'killed' | 'timeout' | 'survived' | 'unreached', by?: string }} Verdict
 */

export class Trial {
  #tree;
  #tests;
  #env;

  /**
   * @param {import('./tree.mjs').Tree} tree
   * @param {import('./measured-tests.mjs').MeasuredTests} tests
   * @param {NodeJS.ProcessEnv} env of the tests
   */
  constructor(tree, tests, env) {
    this.#tree = tree;
    this.#tests = tests;
    this.#env = env;
  }

  /** Unit files, then the other tests without services, then the simulation. @returns {Promise<Verdict>} */
  async first(mutant) {
    const names = this.#nearest(mutant, [...inProcessTests(this.#tree.root), SIMULATION]);
    const others = names.filter((name) => !isUnit(name) && name !== SIMULATION);
    return this.#run(mutant, [
      ...groups(names.filter(isUnit), this.#tests.secondsOf),
      ...others.map((name) => [name]),
      ...names.filter((name) => name === SIMULATION).map((name) => [name]),
    ]);
  }

  /** Some tests with services: the most likely to fail, within MOST_SECONDS. @returns {Promise<Verdict>} */
  async second(mutant) {
    const cost = (name) => (isSlow(name) ? 3 : costOf(readFileSync(fileOf(this.#tree.root, name), 'utf8')));
    const names = this.#nearest(mutant, serviceTests(this.#tree.root)).toSorted((a, b) => cost(a) - cost(b));
    let left = MOST_SECONDS;
    const affordable = names.slice(0, MOST_FILES).filter((name) => {
      if (this.#tests.secondsOf(name) > left) return false;
      left -= this.#tests.secondsOf(name);
      return true;
    });
    return this.#run(
      mutant,
      affordable.map((name) => [name]),
    );
  }

  #nearest({ id, file }, names) {
    return nearestFirst(file, this.#tests.reaching(names, id), this.#tests.secondsOf);
  }

  async #run({ id }, processes) {
    if (processes.length === 0) return { outcome: 'unreached' };
    for (const names of processes) {
      const { failure, by, isTimeout } = await this.#check(names, id);
      if (failure === undefined) continue;
      // Tests also fail on a machine that is too busy: they run again without the mutant.
      const suspects = by === undefined || !names.includes(by) ? names : [by];
      const control = await this.#check(suspects);
      if (control.failure !== undefined) {
        console.log(
          `  ${suspects[0]} fails without the mutant too, and counts for nothing: ${control.failure}`,
        );
        continue;
      }
      const others = suspects.length > 1 ? ` or one of ${suspects.length - 1} after it` : '';
      console.log(`  ${suspects[0]}${others}: ${failure}`);
      return { outcome: isTimeout ? 'timeout' : 'killed', by: `${suspects[0]}${others}` };
    }
    return { outcome: 'survived' };
  }

  /** @param {string} [id] none: a control run without a mutant */
  async #check(names, id) {
    this.#tree.activate(id);
    const seconds = names.reduce((sum, name) => sum + this.#tests.secondsOf(name), 0);
    const limitMs = FLOOR_MS + TIMES * 1000 * seconds;
    const outcome = await check(this.#tree, names, { limitMs, env: this.#env });
    const expected = this.#tests.testsOf(names);
    // A process that ends early with code 0 leaves out tests.
    if (outcome.failure === undefined && outcome.tests < expected) {
      outcome.failure = `${outcome.tests} of ${expected} tests have ended`;
    }
    return outcome;
  }
}
