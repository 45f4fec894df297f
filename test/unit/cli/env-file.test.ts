import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { logEnvFile, readEnvFile } from '../../../src/cli/env-file.ts';
import { createLog } from '../../../src/log.ts';
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

  it('sets nothing in production, and names the variables of the file that the environment does not have', async (t) => {
    const file = await fileWith(t, 'REDIS_URL=redis://a\nPORT=1\nGRAPH=graph\nKAFKA_BROKERS=k:9092\n');
    for (const production of [{ NODE_ENV: 'production' }, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }]) {
      const env = { ...production, GRAPH: 'own', PORT: '' };
      const read = readEnvFile(env, file);
      assert.deepEqual(read, { isRead: false, variables: ['KAFKA_BROKERS', 'REDIS_URL'] });
      assert.deepEqual(env, { ...production, GRAPH: 'own', PORT: '' });
      let line = '';
      logEnvFile(read, createLog('warn', { write: (text) => void (line += text) }));
      assert.deepEqual((JSON.parse(line) as { missing?: unknown }).missing, ['KAFKA_BROKERS', 'REDIS_URL']);
      assert.doesNotMatch(line, /redis:|k:9092/);
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
    const production = { NODE_ENV: 'production' };
    assert.equal(readEnvFile(production, below), undefined, 'which is not read');
    assert.equal(readEnvFile(production, path.join(folder, '.env')), undefined, 'nor is a folder');
  });
});
