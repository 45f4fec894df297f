import { execFile, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { spawnFor } from '../child-process.ts';
import type { Scope } from '../scope.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { NPM, type Manager } from './managers.ts';

const ROOT = path.join(import.meta.dirname, '../../../..');

/** The tarball that is released, made for this scope: other test files may pack at the same time. @returns its path */
export async function packed(scope: Scope): Promise<string> {
  const script = path.join(ROOT, 'scripts/release/pack.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script, await temporaryFolder(scope)]);
  return stdout.trim();
}

/** A project outside the repository, in which a package manager has installed the tarball. */
export class InstalledPackage {
  readonly folder: string;
  readonly #manager: Manager;

  private constructor(folder: string, manager: Manager) {
    this.folder = folder;
    this.#manager = manager;
  }

  static async with(scope: Scope, manager: Manager, tarball: string): Promise<InstalledPackage> {
    const folder = await temporaryFolder(scope);
    await writeFile(path.join(folder, 'package.json'), '{"name":"shop","private":true}');
    return InstalledPackage.#in(folder, manager, tarball);
  }

  /** In a copy of a project. @param project path of its folder, without what has been installed or written there */
  static async copyOf(scope: Scope, project: string, tarball: string): Promise<InstalledPackage> {
    const folder = await temporaryFolder(scope);
    await cp(project, folder, { recursive: true, filter: (file) => path.basename(file) !== 'node_modules' });
    return InstalledPackage.#in(folder, NPM, tarball);
  }

  static async #in(folder: string, manager: Manager, tarball: string): Promise<InstalledPackage> {
    // To Yarn a folder with one is a project, whatever is above it.
    if (manager.name === 'Yarn') await writeFile(path.join(folder, 'yarn.lock'), '');
    const installed = new InstalledPackage(folder, manager);
    await installed.exec(manager.add(tarball));
    return installed;
  }

  /** Another project, in a folder of this one: with the tarball in place of a registry's package. */
  async below(name: string, tarball: string): Promise<InstalledPackage> {
    const project = new InstalledPackage(path.join(this.folder, name), this.#manager);
    await project.exec(this.#manager.add(tarball));
    return project;
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

  /** Runs a command to its end. Rejects, with what it has printed, unless it ends with 0. */
  exec([file = '', ...args]: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    return promisify(execFile)(file, args, { cwd: this.folder, env: environment({}) });
  }

  /** As `npx sluice …` or the like. */
  sluice(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    return this.exec([...this.#manager.run, 'sluice', ...args]);
  }

  /** Starts a command that goes on. @param command by default what runs `sluice` */
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

/** What the tests' own runner has been told. */
const OF_RUNNER = new Set(['NODE_OPTIONS', 'NODE_TEST_CONTEXT', 'KAFKA_BROKERS', 'REDIS_URL']);

function environment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !OF_RUNNER.has(name));
  return { ...Object.fromEntries(others), ...settings };
}
