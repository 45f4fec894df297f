/**
 * Runs test modules, each in a process of its own, and reports: `test-runner.mjs <order.json>`. Node's command line
 * would run them in the order of their names.
 *
 * @typedef {object} Order
 * @property {string[]} modules in the order in which they are begun
 * @property {string[]} files all that the modules hold
 * @property {number} concurrency
 * @property {number} timeoutMs of a module
 * @property {string[]} namePatterns of the tests to run; none: all
 * @property {boolean} only those that say so
 * @property {string} skippedFile gets a line for each test that was skipped
 */
import { createWriteStream, readFileSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec as Spec } from 'node:test/reporters';
import { FileTimes } from './file-times.mjs';
import skipped from './skipped-reporter.mjs';
import { nameOf } from './test-files.mjs';
import { rememberSeconds } from './test-plan.mjs';

/** @type {Order} */
const order = JSON.parse(readFileSync(process.argv[2], 'utf8'));

const events = run({
  files: order.modules,
  concurrency: order.concurrency,
  timeout: order.timeoutMs,
  only: order.only,
  ...(order.namePatterns.length > 0 && { testNamePatterns: order.namePatterns }),
});
const times = new FileTimes();
events.on('data', (event) => times.take(event));
/** Node's runner reports a file itself only if none of its tests has run. */
const withoutTests = new Set();
events.on('test:pass', ({ name }) => withoutTests.add(name));
events.on('test:fail', ({ name }) => {
  process.exitCode = 1;
  const isShared = order.modules.includes(name) && !order.files.includes(name);
  if (isShared) console.error(`${name} failed, which is:\n${readFileSync(name, 'utf8')}`);
});
const report = events.compose(new Spec());
report.pipe(process.stdout);
const list = events.compose(skipped).pipe(createWriteStream(order.skippedFile));
await Promise.all([finished(report), finished(list)]);
console.log(times.slowest());
if (order.namePatterns.length === 0 && !order.only) {
  // A process that ends early with code 0 takes tests with it that were still to come.
  const silent = order.files.filter((file) =>
    order.modules.includes(file) ? withoutTests.has(file) : !times.reported.has(nameOf(file)),
  );
  for (const file of silent) console.error(`No test of ${file} has run.`);
  if (silent.length > 0) process.exitCode = 1;
}
if (order.namePatterns.length === 0 && !order.only) rememberSeconds(times.seconds);
