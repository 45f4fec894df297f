import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const FILES = 200;

/** What the build reads and nothing that is built, but many small sources. */
async function unbuilt(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const name of [
    'package.json',
    'babel.config.js',
    'babel-plugins',
    'scripts/build.mjs',
    'scripts/lib/arguments.mjs',
  ]) {
    await cp(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  await mkdir(path.join(folder, 'src'));
  for (let each = 0; each < FILES; each++) {
    await writeFile(path.join(folder, `src/${each}.ts`), `export const value: number = ${each};\n`);
    await writeFile(path.join(folder, `src/${each}.md`), `${each}\n`);
  }
  return folder;
}

test('several builds at once all succeed, and leave whole files only', async (t) => {
  const folder = await unbuilt(t);
  const build = path.join(folder, 'scripts/build.mjs');
  await Promise.all(Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, [build])));
  const dist = path.join(folder, 'dist');
  assert.deepEqual((await readdir(dist)).toSorted(), ['babel-plugins', 'graphiql', 'src']);
  for (let each = 0; each < FILES; each++) {
    assert.equal(await readFile(path.join(dist, `src/${each}.md`), 'utf8'), `${each}\n`);
    const { value } = (await import(path.join(dist, `src/${each}.js`))) as { value: number };
    assert.equal(value, each);
  }
});
