import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, SluiceError } from '../errors.ts';
import { argumentsOf } from './command.ts';
import { print } from './output.ts';

const TEMPLATE = path.join(import.meta.dirname, 'template');

/** Of Sluice itself. */
const MANIFEST = path.join(import.meta.dirname, '../../../package.json');

/** Files that npm or tools of this repository would take for their own. */
const RENAMED: Readonly<Record<string, string>> = { dockerignore: '.dockerignore', gitignore: '.gitignore' };

/** `sluice init [folder]`: writes a graph's project, and prints the paths of its files and what comes next. */
export async function init(args: readonly string[]): Promise<number> {
  const [folder = '.'] = argumentsOf(args, [], { optional: ['folder'] }).positionals;
  await demandEmpty(folder);
  const entries = await readdir(TEMPLATE, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(TEMPLATE, path.join(parentPath, name)))
    .toSorted();
  for (const file of files) {
    const target = path.join(folder, RENAMED[file] ?? file);
    const text = await readFile(path.join(TEMPLATE, file), 'utf8');
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, file === 'package.json' ? await manifest(text, folder) : text, { flag: 'wx' });
    print(`${target}\n`);
  }
  const enter = path.resolve(folder) === process.cwd() ? '' : `cd ${folder} && `;
  return print(`\nNext: ${enter}npm install && npm run types && npm test && npx sluice dev\n`);
}

/** @throws SluiceError BAD_FOLDER */
async function demandEmpty(folder: string): Promise<void> {
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw new SluiceError('BAD_FOLDER', `expected a new or an empty folder: ${messageOf(cause)}`, { cause });
  }
  if (names.length === 0) return;
  const held = names.length > 3 ? `${names.slice(0, 3).join(', ')}, …` : names.join(', ');
  throw new SluiceError(
    'BAD_FOLDER',
    `expected a new or an empty folder, got ${folder} with ${held}; name another one: sluice init <folder>`,
  );
}

/** @param text of the template's package.json */
async function manifest(text: string, folder: string): Promise<string> {
  const { version } = JSON.parse(await readFile(MANIFEST, 'utf8')) as { version: string };
  const template = JSON.parse(text) as { name: string; dependencies: Record<string, string> };
  const words = path
    .basename(path.resolve(folder))
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const named = words.filter((word) => word !== '').join('-');
  // A project can't depend on a package of its own name.
  const name = named === '' || named in template.dependencies ? template.name : named;
  const dependencies = { ...template.dependencies, sluice: `^${version}` };
  return `${JSON.stringify({ ...template, name, dependencies }, undefined, 2)}\n`;
}
