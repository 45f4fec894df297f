/**
 * Runs tests and reports: `test-runner.mjs [--slow | --all] [<suite, folder or file> …] [--test-name-pattern=…]`. Node's
 * command line would start a process for each of hundreds of short files, in the order of their names.
 */
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec as Spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { root } from '../ensure.mjs';
import { readTestArguments } from './test-arguments.mjs';
import { nameOf, suiteOf, testFiles } from './test-files.mjs';
import { TestReport } from './test-report.mjs';

/** The limit of a process with tests. It ends only tests that hang: machines differ widely in speed. */
const PROCESS_TIMEOUT_MS = 900_000;

/** More than a small machine's processors: many tests mostly wait for a broker or for a browser. */
const FEWEST_PROCESSES = 4;
const MOST_PROCESSES = 8;

/** Suites whose files share processes: the files are many, short and independent, and a process's start costs more. */
const SHARING = new Set(['unit', 'babel']);

/** If more files pass only by themselves, the run fails. */
const MOST_FLAKY = 2;

/** Lines of Node's reporter with the totals of one process. */
const TOTALS = /^.*ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+.*\n/gm;

/** The output of Node's reporter on each test of a whole tier; the terminal shows only the progress. */
const OUTPUT_FILE = path.join(root, 'dist/test-output.txt');

const { selection, tier, namePatterns, only } = readTestArguments(process.argv.slice(2));
const isFiltered = namePatterns.length > 0 || only;
const isPart = selection.length > 0 || isFiltered;
const files = testFiles(selection, tier);
const report = new TestReport(files, { tells: !isPart, isFiltered });
const folder = mkdtempSync(path.join(tmpdir(), 'sluice-test-'));
const output = isPart ? process.stdout : createWriteStream(OUTPUT_FILE);
try {
  const processors = Math.min(availableParallelism(), MOST_PROCESSES);
  await runModules(modulesOf(processors), Math.max(processors, FEWEST_PROCESSES));
  // The tier that each contributor runs gets no second try.
  if (tier !== 'fast' && !isPart) await tryAgain();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(report.summary(notRun()));
if (!isPart) console.log(`Each test with its time: ${path.relative(root, OUTPUT_FILE)}`);
const { failed, flaky, skipped } = report.totals();
const isSkipAFailure = process.env.CI === 'true' && skipped > 0;
if (isSkipAFailure) console.error('Failed, since CI=true and tests were skipped.');
if (flaky > MOST_FLAKY) console.error(`Failed, since more than ${MOST_FLAKY} files are flaky.`);
process.exitCode = failed > 0 || flaky > MOST_FLAKY || isSkipAFailure ? 1 : 0;

/**
 * Calls Node's runner once for each module: in one call for several files, it holds a file's events back until the
 * files before it have ended. One process takes modules from the end, whose tests compute while the others mostly wait.
 *
 * @param {Map<string, string[]>} modules the test files of each module
 */
async function runModules(modules, concurrency) {
  const waiting = [...modules];
  const takeTurns = async (_, process) => {
    const take = () => (process === 0 ? waiting.pop() : waiting.shift());
    for (let next = take(); next !== undefined; next = take()) await runModule(...next);
  };
  await Promise.all(Array.from({ length: concurrency }, takeTurns));
}

async function runModule(module, held) {
  report.begin(held);
  const events = run({
    files: [module],
    concurrency: 1,
    timeout: PROCESS_TIMEOUT_MS,
    only,
    ...(namePatterns.length > 0 && { testNamePatterns: namePatterns }),
  });
  events.on('data', (event) => report.take(event, held));
  let said = '';
  await finished(events.compose(new Spec()).on('data', (text) => (said += text)));
  output.write(said.replace(TOTALS, ''));
  report.end(held);
}

/** Runs failed files once more, one after the other. */
async function tryAgain() {
  for (const name of report.failedFiles()) {
    report.beginAgain(name);
    const file = files.find((each) => nameOf(each) === name);
    await runModules(new Map([[file, [file]]]), 1);
  }
}

/** Returns the modules in their order. Each runs in a process of its own. */
function modulesOf(processes) {
  const isShared = (file) => SHARING.has(suiteOf(file));
  const sharing = files.filter(isShared);
  // Files are dealt out by their order and not by their times, so that a fault of files in one process can be repeated.
  const groups = Array.from({ length: processes }, (_, process) =>
    sharing.filter((_file, index) => index % processes === process),
  ).filter((group) => group.length > 0);
  return new Map([
    ...files.filter((file) => !isShared(file)).map((file) => [file, [file]]),
    ...groups.map((group, index) => [together(group, index), group]),
  ]);
}

/**
 * Delays tests until all files are loaded. Node runs the hooks of a file as soon as no test is left, which may be while
 * a file waits for the setup of its tests.
 */
function together(group, index) {
  const module = path.join(folder, `shared-${index}.mjs`);
  const imports = group.map((file) => `  await import('${pathToFileURL(file)}');\n`).join('');
  writeFileSync(
    module,
    `import { describe } from 'node:test';
const loading = {};
describe('the files are loaded', () => new Promise((...settle) => ([loading.resolve, loading.reject] = settle)));
try {
${imports}  loading.resolve();
} catch (error) {
  loading.reject(error);
}
`,
  );
  return module;
}

function notRun() {
  if (isPart || tier === 'all') return undefined;
  const other = tier === 'fast' ? 'slow' : 'fast';
  const count = testFiles([], other).length;
  const how = tier === 'fast' ? 'npm run test:all' : 'npm test';
  return `Not run: ${count} ${other} files. They are run by ${how}.`;
}
