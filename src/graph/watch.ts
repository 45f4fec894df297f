import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../support/clock.ts';

/** The pause between two readings of the folder. */
const LOOK_MS = 500;

/** Files of a graph. Other files, such as logs, may change all the time. */
const FILES = /\.(graphql|json|avsc|proto|[cm]?[jt]s)$/;

/** Levels of folders that are read: links may lead in a circle. */
const MAX_DEPTH = 8;

interface GraphWatchOptions {
  readonly folder: string;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * Notices changes of a graph's folder by reading it regularly: file systems that are shared over a network or with a
 * container report no changes, and a Kubernetes ConfigMap changes by a link beside the files. Two readings in a row
 * must be equal, so that one save of several files is one change.
 */
export class GraphWatch {
  readonly #options: GraphWatchOptions;
  readonly #stopping = new AbortController();
  /** The state of the folder when the graph was loaded. */
  #loaded: string;

  private constructor(options: GraphWatchOptions, loaded: string) {
    this.#options = options;
    this.#loaded = loaded;
  }

  /** Called before the graph is loaded: changes from then on are noticed. */
  static async of(options: GraphWatchOptions): Promise<GraphWatch> {
    return new GraphWatch(options, await stateOf(options.folder));
  }

  /** @param changed called once files that have changed do not change any more; must not reject */
  start(changed: () => Promise<void>): void {
    void this.#run(changed);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #run(changed: () => Promise<void>): Promise<void> {
    const { folder, clock } = this.#options;
    const { signal } = this.#stopping;
    let before = this.#loaded;
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      const now = await stateOf(folder);
      if (now === before && now !== this.#loaded && !signal.aborted) {
        this.#loaded = now;
        await changed();
      }
      before = now;
    }
  }
}

/** The state of all files, as text. Links are followed. */
async function stateOf(folder: string, depth = 0): Promise<string> {
  if (depth > MAX_DEPTH) return '';
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch {
    return '';
  }
  const names = entries.map(({ name }) => name).toSorted();
  const states = await Promise.all(
    names.map((name) => (isLeftOut(name) ? '' : stateAt(path.join(folder, name), depth))),
  );
  return states.join('');
}

/** Whether changes of an entry are ignored, such as `..data` of a ConfigMap, to which the files beside it link. */
function isLeftOut(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules';
}

async function stateAt(file: string, depth: number): Promise<string> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) return await stateOf(file, depth + 1);
    if (!FILES.test(file)) return '';
    const { ino, size, mtimeMs, ctimeMs } = found;
    return `${file} ${ino} ${size} ${mtimeMs} ${ctimeMs}\n`;
  } catch {
    return ''; // The file has been removed meanwhile, or is a link that leads nowhere.
  }
}
