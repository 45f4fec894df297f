import assert from 'node:assert/strict';
import cluster, { type ClusterSettings } from 'node:cluster';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { WorkerProcess } from '../../../src/workers/worker-process.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** What workers run until the end of the test. */
function setUpPrimary(t: TestContext, settings: ClusterSettings): void {
  const before = cluster.settings;
  cluster.setupPrimary({ ...settings, execArgv: [], args: [] });
  t.after(() => Object.assign(cluster, { settings: before }));
}

/** A process that does nothing until it is killed. */
async function idleWorker(t: TestContext): Promise<WorkerProcess> {
  const file = path.join(await temporaryFolder(t), 'idle.mjs');
  await writeFile(file, 'setInterval(() => {}, 1e6);');
  setUpPrimary(t, { exec: file });
  const worker = new WorkerProcess(1);
  t.after(() => worker.kill());
  return worker;
}

test('an IPC channel that breaks before the process ends does not hide its end', async (t) => {
  const worker = await idleWorker(t);
  // As when a connection is handed to a process that has just died.
  cluster.workers?.[worker.id]?.process.emit('error', new Error('write EPIPE'));
  worker.kill();
  assert.equal(await worker.exited, 'SIGKILL');
});

test('a process that can not be started counts as ended, too', async (t) => {
  setUpPrimary(t, { exec: 'worker.mjs', cwd: '/no/such/folder' });
  const worker = new WorkerProcess(1);
  assert.match(await worker.exited, /ENOENT/);
  assert.match((await worker.until('listening')) ?? '', /ENOENT/);
});
