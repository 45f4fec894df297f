/** `npm run mutants [-- options]`: measures how many small faults of `src` the tests find (CONTRIBUTING.md). */
import path from 'node:path';
import { ensureInstalled, ensureNode, root } from './ensure.mjs';
import { readArguments } from './lib/arguments.mjs';
import { SIMULATION } from './lib/mutants/checks.mjs';
import { MeasuredTests } from './lib/mutants/measured-tests.mjs';
import { difference, scoreOf, survivorsOf } from './lib/mutants/report.mjs';
import { Results } from './lib/mutants/results.mjs';
import { inProcessTests, serviceTests } from './lib/mutants/test-names.mjs';
import { stopAll } from './lib/mutants/test-process.mjs';
import { commitOf, prepareTree } from './lib/mutants/tree.mjs';
import { Trial } from './lib/mutants/trial.mjs';
import { withLock } from './lib/lock.mjs';
import { interrupt, isInterrupted } from './lib/processes.mjs';
import { withServices } from './lib/test-services.mjs';

const USAGE = `npm run mutants -- [--phase 1|2] [--minutes n] [--tree folder] [--results file] [--seed text] [--count n]
npm run mutants -- --report [--results file] [file of an earlier commit]`;

const OPTIONS = {
  seed: { type: 'string', default: '1' },
  count: { type: 'string', default: '150' },
  results: { type: 'string' },
  phase: { type: 'string', default: '1' },
  minutes: { type: 'string' },
  tree: { type: 'string', default: root },
  report: { type: 'boolean', default: false },
};

const FOLDER = path.join(root, 'docs/internals/mutants');

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interrupt();
    stopAll();
  });
}

const { values: given, positionals } = readArguments(USAGE, { options: OPTIONS, words: 1 });
try {
  await (given.report ? report(given, positionals) : run(given));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function run(values) {
  ensureNode();
  ensureInstalled();
  const phase = oneOf('phase', values.phase, ['1', '2']);
  const deadline =
    values.minutes === undefined ? Infinity : Date.now() + 60_000 * numberOf('minutes', values.minutes);
  const isOver = () => isInterrupted() || Date.now() > deadline;
  const choice = { seed: values.seed, count: numberOf('count', values.count) };
  const checkout = path.resolve(values.tree);
  const commit = await commitOf(checkout);
  const results = Results.resume(await resultsFile(values, checkout), { commit, ...choice });
  const tree = await prepareTree({ checkout, commit, ...choice });
  const tryAll =
    phase === 1 ? tryFirst : (...args) => withServices({ services: true }, (env) => trySecond(...args, env));
  // All processes that run in the tree have the same active mutant.
  await withLock(path.join(tree.folder, 'run.lock'), () => tryAll(tree, results, isOver));
  console.log(scoreOf(results));
}

async function tryFirst(tree, results, isOver) {
  const tests = new MeasuredTests(tree);
  await tests.measure([...inProcessTests(tree.root), SIMULATION], { env: {}, isOver });
  const trial = new Trial(tree, tests, {});
  await tryEach(tree, results, { phase: 1, isOver, judge: (mutant) => trial.first(mutant) });
}

async function trySecond(tree, results, isOver, env) {
  const tests = new MeasuredTests(tree);
  await tests.measure(serviceTests(tree.root), { env, isOver });
  const trial = new Trial(tree, tests, env);
  await tryEach(tree, results, { phase: 2, isOver, judge: (mutant) => trial.second(mutant) });
}

async function tryEach({ mutants }, results, { phase, isOver, judge }) {
  const open = mutants.filter(({ id }) => results.isOpen(id, phase));
  for (const [index, mutant] of open.entries()) {
    if (isOver()) return;
    const begin = performance.now();
    console.log(`${index + 1} of ${open.length}: ${mutant.id} ${mutant.original} → ${mutant.replacement}`);
    const verdict = await judge(mutant);
    // The interrupted mutant has failed only because of the interruption.
    if (isInterrupted()) return;
    results.add(mutant, phase, verdict);
    console.log(`  ${verdict.outcome}, ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  }
}

async function report(values, [earlier]) {
  const after = Results.read(await resultsFile(values, path.resolve(values.tree)));
  if (earlier !== undefined) {
    const before = Results.read(earlier);
    console.log(scoreOf(before));
    const { compared, lost, gained } = difference(before, after);
    print(`Of ${compared} mutants in both, killed before and not now`, lost);
    print('Killed now and not before', gained);
  }
  console.log(scoreOf(after));
  print('Not killed', survivorsOf(after));
}

function print(title, lines) {
  console.log(`${title}: ${lines.length}`);
  for (const line of lines) console.log(`  ${line}`);
}

async function resultsFile(values, checkout) {
  return values.results ?? path.join(FOLDER, `${await commitOf(checkout)}.jsonl`);
}

function oneOf(name, text, known) {
  if (!known.includes(text))
    throw new Error(`--${name}: expected ${known.join(' or ')}, got ${text}\n${USAGE}`);
  return Number(text);
}

function numberOf(name, text) {
  if (!/^\d+$/.test(text)) throw new Error(`--${name}: expected a whole number, got ${text}\n${USAGE}`);
  return Number(text);
}
