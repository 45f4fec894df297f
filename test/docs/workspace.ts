import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { spawnFor } from '../helpers/child-process.ts';
import { fileScope } from '../helpers/scope.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { ROOT } from './markdown.ts';

/** Settings of the runner's own stay away. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'TMPDIR'];

const NOT_LINKED = new Set(['.env', '.git', '.services']);

const scope = fileScope();
let installing: Promise<string> | undefined;

/** The same for all pages of a test file: links to four hundred packages. @returns the folder's path */
async function install(): Promise<string> {
  const folder = await temporaryFolder(scope);
  for (const name of await readdir(path.join(ROOT, 'node_modules')))
    await symlink(path.join(ROOT, 'node_modules', name), path.join(folder, name));
  await symlink(ROOT, path.join(folder, 'sluice'));
  // The code that scripts/release/client.mjs packs, as it is built; test/package/client.test.ts installs the package.
  const client = path.join(folder, 'sluice-client');
  await mkdir(client);
  await symlink(path.join(ROOT, 'dist/src/client'), path.join(client, 'dist'));
  await writeFile(path.join(client, 'package.json'), '{"exports":"./dist/client.js"}');
  return folder;
}

/**
 * What a reader has: the folder of Sluice, and `my-graph` beside it.
 *
 *     sluice/        links to all that the repository holds; commands run here
 *     my-graph/      what the page puts together
 *     node_modules   for clients, as if they had been installed; Sluice too
 */
export class Workspace {
  readonly #folder: string;
  readonly #t: TestContext;
  /** Exports of earlier blocks hold in later ones, as in one terminal. */
  readonly #exports: string;
  readonly #settings: Readonly<Record<string, string>>;

  private constructor(t: TestContext, folder: string, settings: Readonly<Record<string, string>>) {
    this.#t = t;
    this.#folder = folder;
    this.#exports = path.join(folder, 'exports');
    this.#settings = settings;
  }

  /** @param settings in the environment of all commands */
  static async create(t: TestContext, settings: Readonly<Record<string, string>>): Promise<Workspace> {
    const folder = await temporaryFolder(t);
    const checkout = path.join(folder, 'sluice');
    await mkdir(checkout);
    for (const name of (await readdir(ROOT)).filter((each) => !NOT_LINKED.has(each))) {
      await symlink(path.join(ROOT, name), path.join(checkout, name));
    }
    await symlink(await (installing ??= install()), path.join(folder, 'node_modules'));
    const workspace = new Workspace(t, folder, settings);
    await writeFile(workspace.#exports, '');
    return workspace;
  }

  /** @param file from the folder of Sluice, as pages name it: `../my-graph/graph.ts` */
  pathOf(file: string): string {
    return path.join(this.#folder, 'sluice', file);
  }

  /** @param file as for `pathOf` */
  async write(file: string, text: string): Promise<void> {
    const target = this.pathOf(file);
    // Links lead into the repository.
    if (!file.startsWith('../') || path.dirname(target).length < this.#folder.length)
      throw new Error(`Expected a file beside the folder of Sluice, got ${file}.`);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  }

  async forget(folder: string): Promise<void> {
    await rm(this.pathOf(folder), { recursive: true, force: true });
  }

  /**
   * Starts commands in the folder of Sluice; the first that fails ends them.
   *
   * Without --norc, Bash would run the user's ~/.bashrc: standard input is a socket here, which it takes for rsh.
   */
  spawn(commands: string): ReturnType<typeof spawnFor> {
    const inherited = Object.fromEntries(INHERITED.map((name) => [name, process.env[name] ?? '']));
    const env = { ...inherited, ...this.#settings };
    const script = `set -euo pipefail; . ${this.#exports}\n${commands}\ndeclare -px > ${this.#exports}`;
    return spawnFor(this.#t, 'bash', ['--norc', '-c', script], {
      cwd: path.join(this.#folder, 'sluice'),
      env,
    });
  }
}
