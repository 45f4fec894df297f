import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** npm writes this file beside the packages; it says where each was installed from. */
interface Installed {
  readonly packages: Readonly<Record<string, { readonly resolved?: string } | undefined>>;
}

/**
 * The tarball that npm has installed a package from.
 *
 * @param folder of the package
 * @returns undefined if it came from a registry, or was not installed by npm
 */
export async function ownTarball(folder: string): Promise<string | undefined> {
  const modules = path.dirname(folder);
  const list = await readFile(path.join(modules, '.package-lock.json'), 'utf8').catch(() => undefined);
  if (list === undefined) return undefined;
  const { packages } = JSON.parse(list) as Installed;
  const resolved = packages[`node_modules/${path.basename(folder)}`]?.resolved;
  return resolved?.startsWith('file:') === true
    ? path.resolve(path.dirname(modules), resolved.slice('file:'.length))
    : undefined;
}
