import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Instruction, Stage } from './dockerfile.ts';

/** A built stage: a folder in place of the root of its file system, and the settings of its processes. */
export class Image {
  readonly folder: string;
  workdir = '/';
  user: string | undefined;
  readonly env: Record<string, string> = {};
  entrypoint: readonly string[] = [];
  cmd: readonly string[] = [];
  healthcheck: readonly string[] = [];

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Returns the path on this machine of a path in the image. */
  at(inside: string): string {
    return path.join(this.folder, path.posix.resolve(this.workdir, inside));
  }

  /** Returns a command of the image as this machine can run it: with paths in WORKDIR made paths of the folder. */
  command(words: readonly string[]): string[] {
    return words.map((word) => (word.startsWith(`${this.workdir}/`) ? this.at(word) : word));
  }
}

export interface Builder {
  /** The images go into empty folders in this folder. */
  readonly folder: string;
  /** The build context, the files that an engine would get. */
  readonly context: string;
  /** Images that `FROM` may name besides stages; other names must be images of Node.js, which are empty here. */
  readonly images: ReadonlyMap<string, Image>;
  /** The environment of `RUN`. */
  readonly env: NodeJS.ProcessEnv;
}

/** Does the work of an engine, in the same order. */
export async function buildStages(stages: readonly Stage[], builder: Builder): Promise<Map<string, Image>> {
  const images = new Map(builder.images);
  for (const { name, from, instructions } of stages) {
    const image = new Image(path.join(builder.folder, name.replaceAll(/\W/g, '-')));
    await mkdir(image.folder);
    const base = images.get(from);
    if (base !== undefined) await inherit(image, base);
    else if (!from.startsWith('node:')) throw new Error(`FROM: expected a stage or node:…, got ${from}`);
    for (const instruction of instructions) await apply(image, instruction, images, builder);
    images.set(name, image);
  }
  return images;
}

/** Makes hard links, which are quick and take no space; our images add files to inherited ones, and change none. */
async function inherit(image: Image, base: Image): Promise<void> {
  await promisify(execFile)('cp', ['--archive', '--link', `${base.folder}/.`, image.folder]);
  const { workdir, user, entrypoint, cmd, healthcheck } = base;
  Object.assign(image, { workdir, user, entrypoint, cmd, healthcheck });
  Object.assign(image.env, base.env);
}

/** Fails on an instruction that is new to the Dockerfile, so that it must be added here, too. */
async function apply(
  image: Image,
  { name, args }: Instruction,
  images: ReadonlyMap<string, Image>,
  builder: Builder,
): Promise<void> {
  switch (name) {
    case 'WORKDIR':
      image.workdir = args;
      await mkdir(image.at('.'), { recursive: true });
      return;
    case 'COPY':
      return copy(image, args, images, builder.context);
    case 'RUN':
      return run(image, args, builder.env);
    case 'ENV': {
      const [, variable = '', value = ''] = /^(\w+)=(\S+)$/.exec(args) ?? [];
      image.env[variable] = value;
      return;
    }
    case 'USER':
      image.user = args;
      return;
    case 'EXPOSE':
      return;
    case 'HEALTHCHECK':
      image.healthcheck = execForm(args.slice(args.indexOf('CMD ') + 4));
      return;
    case 'ENTRYPOINT':
      image.entrypoint = execForm(args);
      image.cmd = [];
      return;
    case 'CMD':
      image.cmd = execForm(args);
      return;
    default:
      throw new Error(`${name}: an instruction that this does not know`);
  }
}

/** Takes only the exec form: a shell between would not pass signals on. */
function execForm(args: string): string[] {
  if (!args.startsWith('[')) throw new Error(`Expected the exec form, ["…"], got: ${args}`);
  return JSON.parse(args) as string[];
}

/** Copies like the engine: the content of a folder, or a file itself. */
async function copy(
  image: Image,
  args: string,
  images: ReadonlyMap<string, Image>,
  context: string,
): Promise<void> {
  const words = args.split(' ');
  const from = /^--from=(.+)$/.exec(words[0] ?? '')?.[1];
  const sources = from === undefined ? words : words.slice(1);
  const destination = sources.pop() ?? '';
  const origin = from === undefined ? context : images.get(from)?.folder;
  if (origin === undefined) throw new Error(`COPY: expected --from=<stage>, got ${from}`);
  for (const source of (await Promise.all(sources.map((each) => matching(origin, each)))).flat()) {
    const file = path.join(origin, source);
    const intoFolder = destination.endsWith('/') && !(await stat(file)).isDirectory();
    const target = image.at(intoFolder ? path.posix.join(destination, path.basename(source)) : destination);
    await cp(file, target, { recursive: true, verbatimSymlinks: true });
  }
}

/** Returns the files that match a name with `*`, which may be none. */
async function matching(origin: string, source: string): Promise<string[]> {
  if (!source.includes('*')) return [source];
  const pattern = new RegExp(`^${source.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
  return (await readdir(origin)).filter((name) => pattern.test(name));
}

/** Runs in the image's folder. Paths from the root must be below WORKDIR: others would be paths of this machine. */
async function run(image: Image, command: string, env: NodeJS.ProcessEnv): Promise<void> {
  const words = image.command(command.split(' '));
  const foreign = words.find((word) => word.startsWith('/') && !word.startsWith(image.folder));
  if (foreign !== undefined) throw new Error(`RUN: expected paths below WORKDIR, got ${foreign}`);
  await promisify(execFile)('/bin/sh', ['-c', words.join(' ')], { cwd: image.at('.'), env });
}

/** Returns each file with its size and time of change, to tell whether a program has written to one. */
export async function contentOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const lines = entries.map(async (entry) => {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile()) return file;
    const { size, mtimeMs } = await stat(file);
    return `${file} ${size} ${mtimeMs}`;
  });
  return (await Promise.all(lines)).toSorted();
}
