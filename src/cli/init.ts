import { mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, SluiceError } from '../errors.ts';
import { argumentsOf, UsageError } from './command.ts';
import { graphFrom } from './init-from.ts';
import { print } from './output.ts';

const TEMPLATE = path.join(import.meta.dirname, 'template');

/** The folder of Sluice's own package. */
const PACKAGE = path.join(import.meta.dirname, '../../..');

/** Files whose real names npm or tools of this repository would take for their own. */
const RENAMED: Readonly<Record<string, string>> = { dockerignore: '.dockerignore', gitignore: '.gitignore' };

/** Files of the template that are about its own topic. */
const OF_EXAMPLE = /^(?:graph|test)\//;

/**
 * `sluice init [folder] [--package tarball] [--from schema]`: writes a graph's project, and prints the paths of its files and
 * the next commands. A tarball of Sluice is copied into the project, since the project's image is built from its folder
 * alone. With a schema of messages, the graph has their types in place of the example's.
 */
export async function init(args: readonly string[]): Promise<number> {
  const allowed = { optional: ['folder'], lists: ['package', 'from'] };
  const { positionals, lists } = argumentsOf(args, [], allowed);
  const [folder = '.'] = positionals;
  const { version } = JSON.parse(await readFile(path.join(PACKAGE, 'package.json'), 'utf8')) as Manifest;
  const tarball = lists['package']?.at(-1) ?? (await ownTarball(PACKAGE));
  const from = lists['from']?.at(-1);
  const own = from === undefined ? undefined : await graphFrom(from);
  const isThere = await demandEmpty(folder, tarball);
  if (tarball !== undefined && !isThere) print(`${await copyTarball(tarball, folder)}\n`);
  const sluice = tarball === undefined ? `^${version}` : `file:${path.basename(tarball)}`;
  const entries = await readdir(TEMPLATE, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(TEMPLATE, path.join(parentPath, name)))
    .filter((file) => own === undefined || !OF_EXAMPLE.test(file))
    .toSorted();
  for (const file of files) {
    const target = path.join(folder, RENAMED[file] ?? file);
    const text = await readFile(path.join(TEMPLATE, file), 'utf8');
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, file === 'package.json' ? manifest(text, folder, sluice) : text, { flag: 'wx' });
    print(`${target}\n`);
  }
  for (const [file, text] of Object.entries(own ?? {})) {
    const target = path.join(folder, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text, { flag: 'wx' });
    print(`${target}\n`);
  }
  const enter = path.resolve(folder) === process.cwd() ? '' : `cd ${forShell(folder)} && `;
  const tried = own === undefined ? 'npm run types && npm test' : 'npm run check';
  return print(`\nNext: ${enter}npm install && ${tried} && npx sluice dev\n`);
}

interface Manifest {
  readonly version: string;
}

/** @returns the tarball's path in the folder. @throws UsageError if the tarball can't be read */
async function copyTarball(tarball: string, folder: string): Promise<string> {
  const content = await readFile(tarball).catch((cause: unknown) => {
    throw new UsageError(`expected a tarball of Sluice: ${messageOf(cause)}; --package <file> names one`);
  });
  const target = path.join(folder, path.basename(tarball));
  await mkdir(folder, { recursive: true });
  await writeFile(target, content, { flag: 'wx' });
  return target;
}

/**
 * @param tarball of Sluice, which may be in the folder: a user may run `npx` there with it
 * @returns whether the tarball is there
 * @throws SluiceError BAD_FOLDER if the folder has any other file
 */
async function demandEmpty(folder: string, tarball: string | undefined): Promise<boolean> {
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw new SluiceError('BAD_FOLDER', `expected a new or an empty folder: ${messageOf(cause)}`, { cause });
  }
  const [name, ...others] = names;
  if (name === undefined) return false;
  if (others.length === 0 && tarball !== undefined && name === path.basename(tarball)) {
    const files = [path.join(folder, name), tarball].map((file) => realpath(file).catch(() => file));
    const [found, meant] = await Promise.all(files);
    if (found === meant) return true;
  }
  const held = names.length > 3 ? `${names.slice(0, 3).join(', ')}, …` : names.join(', ');
  throw new SluiceError(
    'BAD_FOLDER',
    `expected a new or an empty folder, got ${folder} with ${held}; name another one: sluice init <folder>`,
  );
}

function forShell(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * @param text of the template's package.json
 * @param sluice the version or the file that npm installs Sluice from
 */
function manifest(text: string, folder: string, sluice: string): string {
  const template = JSON.parse(text) as { name: string; dependencies: Record<string, string> };
  const words = path
    .basename(path.resolve(folder))
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const named = words.filter((word) => word !== '').join('-');
  // A project can't depend on a package of its own name.
  const name = named === '' || named in template.dependencies ? template.name : named;
  const dependencies = { ...template.dependencies, sluice };
  return `${JSON.stringify({ ...template, name, dependencies }, undefined, 2)}\n`;
}

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
