import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { readEnvFile } from '../../../src/cli/env-file.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** @returns its path */
async function fileWith(t: TestContext, text: string): Promise<string> {
  const file = path.join(await temporaryFolder(t), '.env');
  await writeFile(file, text);
  return file;
}

describe('readEnvFile', () => {
  it('adds variables that the environment does not have, and names those that hold', async (t) => {
    const file = await fileWith(
      t,
      '\uFEFFPORT=1\n# text\nexport REDIS_URL="redis://a"\nGRAPH=graph\nTOKEN=a\n',
    );
    const env = { GRAPH: 'own', REDIS_URL: '', TOKEN: 'a' };
    assert.deepEqual(readEnvFile(env, file), { isRead: true, variables: ['PORT', 'TOKEN'] });
    assert.deepEqual(env, { GRAPH: 'own', REDIS_URL: '', TOKEN: 'a', PORT: '1' });
  });

  it('reads nothing in production, and says that a file is there', async (t) => {
    const file = await fileWith(t, 'PORT=1');
    for (const production of [{ NODE_ENV: 'production' }, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }]) {
      const env = { ...production };
      assert.deepEqual(readEnvFile(env, file), { isRead: false, variables: [] });
      assert.deepEqual(env, production);
    }
  });

  it('does without a file, also where a folder has its name, and refuses one that can’t be read', async (t) => {
    const folder = await temporaryFolder(t);
    assert.equal(readEnvFile({}, path.join(folder, '.env')), undefined);
    await mkdir(path.join(folder, '.env'));
    assert.equal(readEnvFile({}, path.join(folder, '.env')), undefined);
    const below = path.join(await fileWith(t, ''), '.env');
    assert.throws(() => readEnvFile({}, below), {
      code: 'BAD_SETTINGS',
      message: /^expected a file that can be read, or none, got .*\.env: ENOTDIR/,
    });
    assert.equal(readEnvFile({ NODE_ENV: 'production' }, below), undefined, 'which is not read');
  });
});
