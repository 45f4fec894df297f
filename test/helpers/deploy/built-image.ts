import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { spawnFor } from '../child-process.ts';
import { deployTool } from '../services.ts';
import { includedBy, stagesOf } from './dockerfile.ts';
import { buildStages, type Image } from './image.ts';

const ROOT = path.join(import.meta.dirname, '../../../..');

/** The images that the Dockerfiles describe, built without an engine, with processes in them. */
export class BuiltImages {
  readonly folder: string;
  /** A folder with Node.js of the image's version, which every user may run. */
  readonly #bin: string;
  #images = new Map<string, Image>();

  private constructor(folder: string) {
    this.folder = folder;
    this.#bin = path.join(folder, 'bin');
  }

  /** Needs 'image-node'. The caller removes the images. */
  static async build(): Promise<BuiltImages> {
    const folder = await mkdtemp(path.join(tmpdir(), 'sluice-image-'));
    await chmod(folder, 0o755);
    const images = new BuiltImages(folder);
    try {
      await mkdir(images.#bin);
      await copyFile(deployTool('image-node'), path.join(images.#bin, 'node'));
      await images.#add(path.join(ROOT, 'Dockerfile'), await images.#context());
      return images;
    } catch (error) {
      await images.remove();
      throw error;
    }
  }

  /** Returns the image of a stage; the last stage of the Dockerfile is the gateway. */
  get(name: string): Image {
    const image = this.#images.get(name);
    if (image === undefined) throw new Error(`Expected one of ${[...this.#images.keys()]}, got ${name}.`);
    return image;
  }

  get gateway(): Image {
    return this.get('sluice');
  }

  /** The image of the gateway with a user's graph, as deploy/graph.Dockerfile makes it. */
  async withGraph(graph: string): Promise<Image> {
    const context = path.join(this.folder, 'graph-context');
    await cp(graph, path.join(context, 'graph'), { recursive: true });
    return this.#add(path.join(ROOT, 'deploy/graph.Dockerfile'), context);
  }

  /** Starts a process in the image, as the image's user if this process may do so. */
  spawn(
    t: TestContext,
    image: Image,
    command: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): ChildProcessWithoutNullStreams {
    const [file = '', ...args] = image.command(command);
    const [uid, gid] = (image.user ?? '').split(':').map(Number);
    const identity = process.getuid?.() === 0 ? { uid, gid } : {};
    // Home and temporary folder are read-only here, so that a program that writes to them fails.
    const [names, values] = [Object.keys(image.env), image.command(Object.values(image.env))];
    const own = Object.fromEntries(names.map((name, index) => [name, values[index]]));
    const env = { HOME: image.folder, TMPDIR: image.folder, ...own, ...settings, PATH: this.#path };
    return spawnFor(t, file, args, { cwd: image.at('.'), env, ...identity } as never);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Makes the build context that an engine would get. */
  async #context(): Promise<string> {
    const context = path.join(this.folder, 'context');
    for (const name of includedBy(await readFile(path.join(ROOT, '.dockerignore'), 'utf8'))) {
      await cp(path.join(ROOT, name), path.join(context, name), { recursive: true });
    }
    return context;
  }

  async #add(dockerfile: string, context: string): Promise<Image> {
    const stages = stagesOf(await readFile(dockerfile, 'utf8'));
    const folder = await mkdtemp(path.join(this.folder, 'stages-'));
    await chmod(folder, 0o755);
    const env = { ...process.env, PATH: this.#path };
    const images = await buildStages(stages, { folder, context, images: this.#images, env });
    const last = images.get(stages.at(-1)?.name ?? '') as Image;
    // The name that the documentation gives the image with --tag.
    if (this.#images.size === 0) images.set('sluice', last);
    this.#images = images;
    return last;
  }

  get #path(): string {
    return `${this.#bin}${path.delimiter}${process.env['PATH']}`;
  }
}
