/**
 * The instrumented copy of a commit, in the cache, built once:
 *
 *     tree/          the commit, with mutants in `src`; its node_modules are those of the checkout
 *     mutants.json   the mutants
 *     switch.json    the active mutant
 *     reached        the ids of reached mutants, after `watch`
 *     tests.json     the time and the reached mutants of each test file
 */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onceInCache } from '../once-in-cache.mjs';
import { cacheFolder } from '../places.mjs';
import { run } from '../processes.mjs';
import { place } from './placing.mjs';

export class Tree {
  /** @type {string} */
  folder;
  /** @type {string} the clone of the checkout */
  root;
  /** @type {import('./choice.mjs').Mutant[]} */
  mutants;

  constructor(folder) {
    this.folder = folder;
    this.root = path.join(folder, 'tree');
    this.mutants = JSON.parse(readFileSync(path.join(folder, 'mutants.json'), 'utf8'));
  }

  get testsFile() {
    return path.join(this.folder, 'tests.json');
  }

  /** Activates a mutant for processes that start from now on. @param {string} [id] none: the code is as it was */
  activate(id) {
    this.#switchTo({ active: id });
  }

  /** Makes processes that start from now on write which mutants they reach. */
  watch() {
    rmSync(this.#reachedFile, { force: true });
    this.#switchTo({ reachedFile: this.#reachedFile });
  }

  /** @returns {string[]} ids of the mutants that were reached since `watch` */
  reached() {
    if (!existsSync(this.#reachedFile)) return [];
    return [...new Set(readFileSync(this.#reachedFile, 'utf8').trim().split('\n'))].toSorted();
  }

  get #reachedFile() {
    return path.join(this.folder, 'reached');
  }

  #switchTo(state) {
    writeFileSync(path.join(this.folder, 'switch.json'), JSON.stringify(state));
  }
}

/** @returns {Promise<string>} the short hash */
export async function commitOf(checkout) {
  return (await run('git', ['rev-parse', '--short=7', 'HEAD'], { cwd: checkout })).trim();
}

/** A run can be resumed only on the same commit, so results must be of a commit. */
async function ensureCommitted(checkout) {
  const folders = ['src', 'test', 'babel-plugins', 'scripts'];
  const changed = await run('git', ['status', '--porcelain', '--', ...folders], { cwd: checkout });
  if (changed !== '')
    throw new Error(`Expected ${checkout} to hold a commit and no changes, got\n${changed}`);
}

/**
 * @param {object} options
 * @param {string} options.checkout with installed packages
 * @param {string} options.commit of the checkout
 * @param {string} options.seed
 * @param {number} options.count of mutants
 * @returns {Promise<Tree>}
 */
export async function prepareTree({ checkout, commit, seed, count }) {
  await ensureCommitted(checkout);
  const folder = path.join(cacheFolder, 'mutants', `${commit}-${seed}-${count}`);
  const tree = path.join(folder, 'tree');
  await onceInCache(folder, async () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await run('git', ['clone', '--quiet', checkout, tree]);
    await run('git', ['checkout', '--quiet', '--detach', commit], { cwd: tree });
    link(checkout, tree);
    console.error('Placing mutants …');
    const mutants = await place(path.join(tree, 'src'), { seed, count });
    writeFileSync(path.join(folder, 'mutants.json'), JSON.stringify(mutants, undefined, 1));
    console.error('Building the copy with mutants …');
    await run(process.execPath, ['scripts/build.mjs'], { cwd: tree });
  });
  // The checkout that an earlier run has linked may be gone.
  link(checkout, tree);
  return new Tree(folder);
}

function link(checkout, tree) {
  rmSync(path.join(tree, 'node_modules'), { force: true });
  symlinkSync(path.join(checkout, 'node_modules'), path.join(tree, 'node_modules'));
}
