import assert from 'node:assert/strict';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { GraphWatch } from '../../../src/graph/watch.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const nothing = (): void => undefined;

/** A watch that looks when the test says. */
async function watched(t: TestContext, folder: string) {
  let changes = 0;
  let wake = nothing;
  let asleep = nothing;
  const sleep = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
      asleep();
    });
  const watch = await GraphWatch.of({ folder, clock: { sleep } });
  t.after(() => {
    watch.stop();
    wake();
  });
  const slept = (): Promise<void> => new Promise((resolve) => (asleep = resolve));
  let sleeping = slept();
  watch.start(async () => void (changes += 1));
  await sleeping;
  /** @returns how many changes have been noticed so far */
  const look = async (): Promise<number> => {
    sleeping = slept();
    wake();
    await sleeping;
    return changes;
  };
  return { look };
}

/** A watched folder with these files, which are empty. */
async function watchedWith(t: TestContext, ...names: readonly string[]) {
  const folder = await temporaryFolder(t);
  const write = (name: string, text: string) => writeFile(path.join(folder, name), text);
  for (const name of names) await write(name, '');
  return { folder, write, ...(await watched(t, folder)) };
}

test('a change is noticed at the second look that finds it, once', async (t) => {
  const { look, write } = await watchedWith(t, 'schema.graphql', 'graph.ts');
  assert.equal(await look(), 0);
  await write('schema.graphql', 'changed');
  assert.equal(await look(), 0);
  assert.equal(await look(), 1);
  assert.equal(await look(), 1);
});

test('files that are saved one after the other are one change', async (t) => {
  const names = ['schema.graphql', 'graph.ts', 'version.ts'];
  const { look, write } = await watchedWith(t, ...names);
  for (const name of names) {
    await write(name, 'changed');
    assert.equal(await look(), 0);
  }
  assert.equal(await look(), 1);
});

test('a file that is put in the place of another, and one of the same size, is noticed', async (t) => {
  const { folder, look, write } = await watchedWith(t, 'graph.js');
  await write('graph.js~', '');
  await rename(path.join(folder, 'graph.js~'), path.join(folder, 'graph.js'));
  await look();
  assert.equal(await look(), 1);
});

test('files that no graph is made of are not looked at', async (t) => {
  const { folder, look, write } = await watchedWith(t, 'schema.graphql');
  await write('notes.log', 'more');
  await mkdir(path.join(folder, 'node_modules'));
  await write('node_modules/some.js', '');
  await look();
  assert.equal(await look(), 0);
});

/** A folder as Kubernetes makes it of a ConfigMap: all files change at once, by one link. */
async function mount(folder: string, revision: number): Promise<void> {
  const data = `..revision_${revision}`;
  await mkdir(path.join(folder, data, 'lib'), { recursive: true });
  for (const name of ['schema.graphql', 'lib/part.js']) await writeFile(path.join(folder, data, name), '');
  await symlink(data, path.join(folder, '..data_tmp'));
  await rename(path.join(folder, '..data_tmp'), path.join(folder, '..data'));
  await rm(path.join(folder, `..revision_${revision - 1}`), { recursive: true, force: true });
}

test('a ConfigMap that changes is noticed', async (t) => {
  const folder = await temporaryFolder(t);
  await mount(folder, 0);
  for (const name of ['schema.graphql', 'lib']) {
    await symlink(path.join('..data', name), path.join(folder, name));
  }
  const { look } = await watched(t, folder);
  for (const revision of [1, 2]) {
    await mount(folder, revision);
    await look();
    assert.equal(await look(), revision);
  }
});

test('a folder that is a link to another one is noticed when the link changes', async (t) => {
  const parent = await temporaryFolder(t);
  const link = path.join(parent, 'current');
  for (const release of ['0', '1']) {
    await mkdir(path.join(parent, release));
    await writeFile(path.join(parent, release, 'schema.graphql'), '');
  }
  await symlink('0', link);
  const { look } = await watched(t, link);
  await symlink('1', `${link}.new`);
  await rename(`${link}.new`, link);
  await look();
  assert.equal(await look(), 1);
});
