import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * Packs a folder with `npm pack`.
 *
 * @param manifest the folder's package.json
 * @param release the folder for the tarball
 * @returns the tarball's path
 */
export async function packTarball(folder, manifest, release) {
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  // npm writes the name of the tarball to standard output, as one line, and all else to standard error.
  const { stdout } = await promisify(execFile)('npm', ['pack', '--silent', '--pack-destination', release], {
    cwd: folder,
  });
  return path.join(release, stdout.trim());
}
