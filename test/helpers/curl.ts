import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { spawnFor } from './child-process.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface Download {
  /** The name that the gateway proposes for the file. */
  readonly name: string;
  readonly text: string;
}

/** Fetches a file with curl, as people do, into a folder, under the name that the server gives. Needs 'curl'. */
export async function download(t: TestContext, url: string): Promise<Download> {
  const folder = await temporaryFolder(t);
  const written = ['--write-out', '%{filename_effective}'];
  const args = ['--silent', '--show-error', '--fail-with-body', '--remote-name', '--remote-header-name'];
  const child = spawnFor(t, 'curl', [...args, ...written, url], { cwd: folder });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`Expected curl to fetch ${url}, but it ended with ${code}: ${said}`);
  return { name: said, text: await readFile(path.join(folder, said), 'utf8') };
}
