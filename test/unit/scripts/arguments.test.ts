import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const SCRIPTS = path.resolve(import.meta.dirname, '../../../../scripts');

/** Programs that these start read the arguments, and have tests of their own. */
const HANDED_ON = ['dev', 'fuzz', 'loadtest', 'policy', 'simulate', 'start'];

/** Parts of pack.mjs. */
const MODULES = ['client', 'declarations', 'documentation', 'tarball', 'vendor'].map(
  (name) => `release/${name}`,
);

test('each script refuses an option that it does not know, and says which, before it does anything', async (t) => {
  const folder = await temporaryFolder(t);
  const files = [
    ...(await readdir(SCRIPTS)),
    ...(await readdir(path.join(SCRIPTS, 'release'))).map((file) => `release/${file}`),
  ];
  const names = files.filter((file) => file.endsWith('.mjs')).map((file) => file.slice(0, -'.mjs'.length));
  const own = names.filter((name) => ![...HANDED_ON, ...MODULES].includes(name));
  assert.ok(own.includes('release/pack') && own.includes('test'), own.join(' '));
  // One after the other: one that does something ends the test, before those that would go on for long.
  for (const name of own) {
    const script = path.join(SCRIPTS, `${name}.mjs`);
    const running = promisify(execFile)(process.execPath, [script, '--no-such-option', 'X'], { cwd: folder });
    await assert.rejects(running, ({ code, stderr }: { code: number; stderr: string }) => {
      assert.equal(code, 1, `${name}: ${stderr}`);
      assert.match(stderr, /--no-such-option/, name);
      return true;
    });
  }
  assert.deepEqual(await readdir(folder), []);
});

test('a word too many is refused, too', async (t) => {
  const script = path.join(SCRIPTS, 'release/pack.mjs');
  const running = promisify(execFile)(process.execPath, [script, 'one', 'two'], {
    cwd: await temporaryFolder(t),
  });
  await assert.rejects(
    running,
    /Expected the arguments below, got 'one two'\nUsage: npm run release:pack -- \[folder\]/,
  );
});
