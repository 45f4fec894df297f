import { execFile, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { spawnFor } from '../child-process.ts';
import type { GatewayProcess } from '../gateway.ts';
import type { Scope } from '../scope.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { NPM, type Manager } from './managers.ts';

const ROOT = path.join(import.meta.dirname, '../../../..');

const PACKED = path.join(ROOT, 'node_modules/.packed');

/** The folders that go into the tarball. */
const INGREDIENTS = [
  'src',
  'scripts/release',
  'dist/src',
  'dist/babel-plugins',
  'dist/examples',
  'dist/graphiql',
  'docs',
  'deploy',
];
const FILES = ['package.json', 'yarn.lock', 'README.md', 'CHANGELOG.md', 'LICENSE'];

/** The gateway's tarball of a release. The first test file that asks for it makes it for all. @returns its path */
export async function packed(): Promise<string> {
  const key = await fingerprint();
  const folder = path.join(PACKED, key);
  const { onceInCache } = (await import(path.join(ROOT, 'scripts/lib/once-in-cache.mjs'))) as {
    onceInCache: (folder: string, task: () => Promise<void>) => Promise<void>;
  };
  await onceInCache(folder, async () => {
    // The lock beside the folder stays: other test files wait for it.
    for (const name of (await readdir(PACKED)).filter((each) => !each.startsWith(key)))
      await rm(path.join(PACKED, name), { recursive: true, force: true });
    await promisify(execFile)(process.execPath, [path.join(ROOT, 'scripts/release/pack.mjs'), folder]);
  });
  const tarball = (await readdir(folder)).find((name) => /^sluice-\d.*\.tgz$/.test(name));
  return path.join(folder, tarball ?? '');
}

/** Returns a hash of the times at which the tarball's sources were written. */
async function fingerprint(): Promise<string> {
  const below = INGREDIENTS.map(async (folder) =>
    (await readdir(path.join(ROOT, folder), { recursive: true })).map((file) => path.join(folder, file)),
  );
  const hash = createHash('sha256');
  for (const file of [...FILES, ...(await Promise.all(below)).flat().toSorted()])
    hash.update(`${file} ${(await stat(path.join(ROOT, file))).mtimeMs}\n`);
  return hash.digest('hex').slice(0, 16);
}

/** A project outside the repository, in which a package manager has installed the tarball. */
export class InstalledPackage {
  readonly folder: string;
  readonly #manager: Manager;

  private constructor(folder: string, manager: Manager) {
    this.folder = folder;
    this.#manager = manager;
  }

  /** Installs the tarball in an empty project. @param others packages that are installed, too */
  static async with(
    scope: Scope,
    manager: Manager,
    others: readonly string[] = [],
  ): Promise<InstalledPackage> {
    const folder = await temporaryFolder(scope);
    await writeFile(path.join(folder, 'package.json'), '{"name":"shop","private":true}');
    // Yarn takes a folder with a lock file for a project, and not for part of one above it.
    if (manager.name === 'Yarn') await writeFile(path.join(folder, 'yarn.lock'), '');
    return InstalledPackage.#in(folder, manager, others);
  }

  /** Installs it in a copy of a project. @param project path of the folder, whose node_modules are left out */
  static async copyOf(scope: Scope, project: string): Promise<InstalledPackage> {
    const folder = await temporaryFolder(scope);
    await cp(project, folder, { recursive: true, filter: (file) => path.basename(file) !== 'node_modules' });
    return InstalledPackage.#in(folder, NPM);
  }

  /**
   * Runs commands that make a project and install the tarball, in a folder with only the tarball.
   *
   * @param tarball its name in the folder
   * @param project the project's folder in that folder
   * @returns the project, and the output of the commands
   */
  static async begunBy(
    scope: Scope,
    commands: string,
    tarball: string,
    project: string,
  ): Promise<{ begun: InstalledPackage; printed: string }> {
    const parent = new InstalledPackage(await temporaryFolder(scope), NPM);
    await cp(await packed(), path.join(parent.folder, tarball));
    const { stdout } = await parent.exec(['bash', '-ec', commands]);
    return { begun: new InstalledPackage(path.join(parent.folder, project), NPM), printed: stdout };
  }

  static async #in(
    folder: string,
    manager: Manager,
    others: readonly string[] = [],
  ): Promise<InstalledPackage> {
    const installed = new InstalledPackage(folder, manager);
    await installed.exec([...manager.add(await packed()), ...others]);
    return installed;
  }

  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(this.folder, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    }
  }

  remove(name: string): Promise<void> {
    return rm(path.join(this.folder, name), { recursive: true });
  }

  /** Runs a command to its end. Rejects, with its output, unless it ends with 0. */
  exec([file = '', ...args]: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    return promisify(execFile)(file, args, { cwd: this.folder, env: environment({}) });
  }

  /** Runs `sluice` like `npx sluice …`. */
  sluice(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    return this.exec([...this.#manager.run, 'sluice', ...args]);
  }

  /** Starts a command that keeps running. @param command by default the one that runs `sluice` */
  spawn(
    scope: Scope,
    args: readonly string[],
    settings: Readonly<Record<string, string>>,
    command: readonly string[] = [...this.#manager.run, 'sluice'],
  ): ChildProcessWithoutNullStreams {
    const [file = '', ...before] = command;
    return spawnFor(scope, file, [...before, ...args], { cwd: this.folder, env: environment(settings) });
  }
}

/** Variables of the tests' own runner. */
const OF_RUNNER = new Set(['NODE_OPTIONS', 'NODE_TEST_CONTEXT', 'KAFKA_BROKERS', 'REDIS_URL']);

function environment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !OF_RUNNER.has(name));
  return { ...Object.fromEntries(others), ...settings };
}

/** Ends a gateway by its own pid: the package manager that has started it may not pass the signal on. */
export async function endItself({ child, lines }: GatewayProcess): Promise<void> {
  const listening = lines.find(({ msg }) => msg === 'listening');
  const exit = once(child, 'exit');
  process.kill(Number(listening?.['pid']), 'SIGTERM');
  await exit;
}
