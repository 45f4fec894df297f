import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { ownTarball } from '../../../src/cli/init.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

test('a tarball that npm has installed Sluice from is named by its list; a registry, or no list, is none', async (t) => {
  const project = await temporaryFolder(t);
  const folder = path.join(project, 'node_modules/sluice');
  await mkdir(folder, { recursive: true });
  assert.equal(await ownTarball(folder), undefined);
  const list = async (resolved: string): Promise<void> => {
    const packages = { 'node_modules/ws': {}, 'node_modules/sluice': { resolved } };
    await writeFile(path.join(project, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  };
  await list('file:../sluice-0.1.0.tgz');
  assert.equal(await ownTarball(folder), path.join(path.dirname(project), 'sluice-0.1.0.tgz'));
  await list('https://registry.example/sluice/-/sluice-0.1.0.tgz');
  assert.equal(await ownTarball(folder), undefined);
});
