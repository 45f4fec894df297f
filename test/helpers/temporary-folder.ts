import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

/** An empty folder outside the repository. It is removed when the test ends. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
