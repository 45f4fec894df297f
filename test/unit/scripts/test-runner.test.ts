import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';

const root = path.resolve(import.meta.dirname, '../../../..');

/** Runs one module: a test file by itself, or one that a test file of the repository shares with others. */
function runModule(
  t: TestContext,
  code: string,
  { alone = false } = {},
): { status: number | null; output: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'runner-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const module = path.join(folder, 'shared-0.mjs');
  writeFileSync(module, code);
  const order = path.join(folder, 'order.json');
  const options = { concurrency: 1, timeoutMs: 60_000, namePatterns: [], only: false };
  const files = [alone ? module : path.join(root, 'dist/test/unit/absent.test.js')];
  const skippedFile = path.join(folder, 'skipped');
  writeFileSync(order, JSON.stringify({ ...options, modules: [module], files, skippedFile }));
  // Node's runner runs nothing inside of a test that it runs.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const runner = path.join(root, 'scripts/lib/test-runner.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [runner, order], { encoding: 'utf8', env });
  return { status, output: stdout + stderr };
}

test('a file whose process ends with code 0 before its tests run fails the run', (t) => {
  const { status, output } = runModule(t, 'process.exit(0);');
  assert.equal(status, 1, output);
  assert.match(output, /No test of .*absent\.test\.js has run\./);
});

test('a file without tests fails the run, and one with tests does not, wherever they are registered', (t) => {
  const empty = runModule(t, '', { alone: true });
  assert.equal(empty.status, 1, empty.output);
  assert.match(empty.output, /No test of .*shared-0\.mjs has run\./);
  const full = runModule(t, "import test from 'node:test'; test('a', () => {});", { alone: true });
  assert.equal(full.status, 0, full.output);
});

test('a process that fails names the files that shared it', (t) => {
  const { status, output } = runModule(t, "// import 'this.test.js'\nthrow new Error('broken');");
  assert.equal(status, 1, output);
  assert.match(output, /shared-0\.mjs failed, which is:\n\/\/ import 'this\.test\.js'/);
});
