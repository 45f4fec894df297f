import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { range } from '../../helpers/numbers.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const root = path.resolve(import.meta.dirname, '../../../..');

const PASSES = "import test from 'node:test'; test('passes', () => undefined);";
const FAILS = "import test from 'node:test'; test('fails', () => { throw new Error('a fault'); });";
const SKIPS = "import test from 'node:test'; test('skips', { skip: 'for want of it' }, () => undefined);";
const ENDS_EARLY = 'process.exit(0);';
const DIES = `import test from 'node:test';
test('dies', () => {
  console.error('its last words');
  process.kill(process.pid, 'SIGKILL');
});`;
const BREAKS = "throw new Error('broken');";
/** Is still being loaded when the tests of other files have ended. */
const LOADS_LATE = `import test, { after } from 'node:test';
import { setImmediate } from 'node:timers/promises';
let isCleanedUp = false;
after(() => (isCleanedUp = true));
for (let turn = 0; turn < 1_000; turn += 1) await setImmediate();
test('passes', () => {
  if (isCleanedUp) throw new Error('cleaned up before its test');
});`;
/** Fails where it is run for the first time. */
const FLAKY = `import test from 'node:test';
import { existsSync, writeFileSync } from 'node:fs';
const mark = import.meta.filename + '.mark';
test('flaky', () => {
  if (existsSync(mark)) return;
  writeFileSync(mark, '');
  throw new Error('by chance');
});`;

/** Runs a project that has these built tests, by name, with the runner of this one. */
async function runTests(
  t: TestContext,
  tests: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  { CI = '' } = {},
): Promise<{ status: number | null; output: string }> {
  const folder = await temporaryFolder(t);
  cpSync(path.join(root, 'scripts'), path.join(folder, 'scripts'), { recursive: true });
  for (const [name, code] of Object.entries(tests)) {
    const file = path.join(folder, 'dist/test', `${name}.test.js`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, code);
  }
  writeFileSync(path.join(folder, 'dist/package.json'), '{ "type": "module" }');
  // Node's runner runs nothing inside of a test that it runs.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const runner = path.join(folder, 'scripts/lib/test-runner.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [runner, ...args], {
    encoding: 'utf8',
    env: { ...env, CI },
  });
  return { status, output: stdout + stderr };
}

test('a run without arguments leaves slow files out, and says so; --slow runs those alone, --all both', async (t) => {
  const tests = { 'unit/a': PASSES, 'e2e/b': PASSES, 'e2e/c.slow': PASSES };
  const fast = await runTests(t, tests);
  assert.equal(fast.status, 0, fast.output);
  assert.match(fast.output, /^✔ e2e: 1 files, 1 tests passed, (\d+ min )?\d+ s$/m);
  assert.match(fast.output, /^Not run: 1 slow files\. They are run by npm run test:all\.$/m);
  assert.match(fast.output, /^2 passed, 0 failed, 0 skipped$/m);
  for (const [flag, passed] of Object.entries({ '--slow': 1, '--all': 3 })) {
    assert.match((await runTests(t, tests, [flag])).output, new RegExp(`^${passed} passed, 0 failed`, 'm'));
  }
});

test('a folder that is named brings the files of the tier, and a file that is named is run in any case', async (t) => {
  const tests = { 'unit/a': PASSES, 'e2e/b': PASSES, 'e2e/c.slow': PASSES };
  for (const [selected, passed] of Object.entries({ e2e: 1, 'test/e2e/c.slow.test.ts': 1, 'e2e/c': 1 })) {
    assert.match(
      (await runTests(t, tests, [selected])).output,
      new RegExp(`^${passed} passed, 0 failed`, 'm'),
    );
  }
  const unknown = await runTests(t, tests, ['e3e']);
  assert.equal(unknown.status, 1);
  assert.match(unknown.output, /Expected a suite \(.*\), folder or file, got e3e\./);
});

test('a failure is told with its file and error, and fails the run', async (t) => {
  const { status, output } = await runTests(t, { 'e2e/a': FAILS, 'unit/b': PASSES });
  assert.equal(status, 1, output);
  assert.match(output, /✖ dist\/test\/e2e\/a\.test\.js:1 «fails»\nError: a fault/);
  assert.match(output, /^Failed:\n {2}e2e\/a$/m);
  assert.match(output, /^1 passed, 1 failed, 0 skipped$/m);
});

test('a file of which no test has run fails the run, whether it has none or ends early', async (t) => {
  const { status, output } = await runTests(t, { 'e2e/a': ENDS_EARLY, 'e2e/b': '', 'unit/c': PASSES });
  assert.equal(status, 1, output);
  for (const name of ['e2e/a', 'e2e/b']) assert.match(output, new RegExp(`No test of ${name} has run\\.`));
  const { output: shared } = await runTests(t, { 'unit/a': ENDS_EARLY, 'unit/b': ENDS_EARLY });
  for (const name of ['unit/a', 'unit/b']) assert.match(shared, new RegExp(`No test of ${name} has run\\.`));
});

test('a run of tests by name does not mind files without one', async (t) => {
  const tests = { 'e2e/a': PASSES, 'e2e/b': '' };
  const { status, output } = await runTests(t, tests, ['e2e', '--test-name-pattern=passes']);
  assert.equal(status, 0, output);
  assert.match(output, /^1 passed, 0 failed/m);
});

test('a process that fails by itself is told with what it has printed, and names the files that shared it', async (t) => {
  const { status, output } = await runTests(t, { 'unit/a': DIES, 'babel/b': PASSES, 'unit/c': PASSES });
  assert.equal(status, 1, output);
  assert.match(output, /A process failed by itself: [^]*import\('.*unit\/a\.test\.js'\)[^]*its last words/);
  const alone = await runTests(t, { 'e2e/a': BREAKS });
  assert.match(alone.output, /^0 passed, 1 failed, 0 skipped$/m);
});

test('a file that can not be loaded is told with its error, and those that share its process run as far as they are', async (t) => {
  const { status, output } = await runTests(t, { 'unit/a': BREAKS, 'babel/b': PASSES, 'unit/c': PASSES });
  assert.equal(status, 1, output);
  assert.match(output, /«the files are loaded»\nError: broken\n +at file:.*\/unit\/a\.test\.js:1:7$/m);
});

test('files that share a process are cleaned up behind their tests, though those of others have ended before they are loaded', async (t) => {
  // As many as there may be processes.
  const tests = Object.fromEntries(
    range(0, 8).flatMap((index) => [
      [`unit/a${index}`, PASSES],
      [`unit/b${index}`, LOADS_LATE],
    ]),
  );
  const { status, output } = await runTests(t, tests);
  assert.equal(status, 0, output);
  assert.match(output, /^16 passed, 0 failed/m);
});

test('of all tests, a file that passes at a second try is flaky, and a third of those fails the run', async (t) => {
  const two = await runTests(t, { 'e2e/a': FLAKY, 'unit/b': FLAKY, 'unit/c': PASSES }, ['--all']);
  assert.equal(two.status, 0, two.output);
  assert.match(two.output, /^Flaky, .*:\n {2}e2e\/a\n {2}unit\/b$/m);
  assert.match(two.output, /^3 passed, 0 failed, 0 skipped\nin (\d+ min )?\d+ s, 2 flaky$/m);
  const three = await runTests(t, { 'e2e/a': FLAKY, 'e2e/b': FLAKY, 'unit/c': FLAKY }, ['--all']);
  assert.equal(three.status, 1, three.output);
  const lasting = await runTests(t, { 'e2e/a': FAILS }, ['--all']);
  assert.equal(lasting.status, 1);
  assert.match(lasting.output, /^0 passed, 1 failed, 0 skipped\nin (\d+ min )?\d+ s, 0 flaky$/m);
});

test('the tests that each contributor runs have no second try', async (t) => {
  const { status, output } = await runTests(t, { 'e2e/a': FLAKY });
  assert.equal(status, 1, output);
});

test('a skipped test is told with its reason, and is a failure with CI=true', async (t) => {
  const tests = { 'e2e/a': SKIPS, 'unit/b': PASSES };
  const skipped = await runTests(t, tests);
  assert.equal(skipped.status, 0, skipped.output);
  assert.match(skipped.output, /^Skipped:\n {2}skips: for want of it$/m);
  assert.equal((await runTests(t, tests, [], { CI: 'true' })).status, 1);
});
