/** Stryker's instrumenter, which finds and places mutants. Fetched at its first use: only mutants need its 25 MB. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { onceInCache } from '../once-in-cache.mjs';
import { cacheFolder } from '../places.mjs';
import { run } from '../processes.mjs';
import { idOf } from './choice.mjs';

/** The last version for Node.js 20. */
const VERSION = '9.6.1';
const DOWNLOAD_TIMEOUT_MS = 600_000;

const folder = path.join(cacheFolder, `stryker-instrumenter-${VERSION}`);

/** Strings are left out: most are words of log lines, errors and pages, which tests should not have to repeat. */
const OPTIONS = { excludedMutations: ['StringLiteral'], ignorers: [], noHeader: true, plugins: null };

const SILENT = { debug() {}, info() {}, warn() {}, isDebugEnabled: () => false };

/**
 * @typedef {{ name: string, content: string }} File `name`: below `src`
 *
 * @param {File[]} files
 * @param {(id: string) => boolean} isWanted
 * @returns {Promise<{ files: File[], mutants: object[] }>} the files with the wanted mutants in them, each to be switched
 * on by its id, and these mutants as Stryker describes them
 */
export async function instrument(files, isWanted) {
  const { Instrumenter } = await load();
  const { _transform: transform } = new Instrumenter(SILENT);
  const instrumenter = new Instrumenter(SILENT, undefined, undefined, (ast, collector, context) =>
    transform(ast, choosing(collector, isWanted), context),
  );
  const result = await instrumenter.instrument(
    files.map((file) => ({ ...file, mutate: true })),
    OPTIONS,
  );
  return { files: result.files, mutants: result.mutants.filter(({ status }) => status === undefined) };
}

/** A collector whose mutants have the same ids in each run. It passes over mutants that are not wanted. */
function choosing(collector, isWanted) {
  return Object.create(collector, {
    collect: {
      value(...args) {
        const mutant = collector.collect(...args);
        mutant.id = idOf(mutant.toApiMutant());
        if (!isWanted(mutant.id)) mutant.ignoreReason ??= 'not wanted';
        return mutant;
      },
    },
  });
}

async function load() {
  await onceInCache(folder, async () => {
    console.error(`Downloading Stryker's instrumenter ${VERSION} to ${folder} …`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), '{ "private": true }');
    const name = `@stryker-mutator/instrumenter@${VERSION}`;
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', name];
    await run('npm', args, { cwd: folder, timeoutMs: DOWNLOAD_TIMEOUT_MS });
  });
  const main = path.join(folder, 'node_modules/@stryker-mutator/instrumenter/dist/src/index.js');
  return import(pathToFileURL(main));
}
