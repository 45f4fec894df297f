import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Scope } from './scope.ts';

/** An empty folder outside the repository. It is removed with its scope. */
export async function temporaryFolder(scope: Scope): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'));
  // Retries, since a server that writes into the folder may end only later: hooks run in the order of their setting.
  scope.after(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  return folder;
}
