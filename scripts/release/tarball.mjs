import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * What `npm pack` makes of a folder.
 *
 * @param manifest its package.json
 * @param release the folder into which the tarball is written
 * @returns the tarball's path
 */
export async function packTarball(folder, manifest, release) {
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  // npm writes what it packs to standard output, one line, and all else to standard error.
  const { stdout } = await promisify(execFile)('npm', ['pack', '--silent', '--pack-destination', release], {
    cwd: folder,
  });
  return path.join(release, stdout.trim());
}
