import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { GatewayProcess } from './gateway.ts';
import { graphFolder } from './graph-folder.ts';
import type { Scope } from './scope.ts';

const DONE = 'the graph has been reloaded';
const REFUSED = 'the graph can not be reloaded; the one before stays in force';

/** A graph's folder whose files change while a gateway runs. */
export class ReloadedGraph {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async of(scope: Scope, files: Readonly<Record<string, string>>): Promise<ReloadedGraph> {
    return new ReloadedGraph(await graphFolder(scope, files));
  }

  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(this.folder, name), text);
  }

  /** Makes the gateway reload, and waits until it logs that the graph is in force. */
  async reload(gateway: GatewayProcess, files: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.#signal(gateway, files, DONE);
  }

  /** Makes the gateway reload, and waits until it logs that it refuses the graph. */
  async reloadInVain(gateway: GatewayProcess, files: Readonly<Record<string, string>>): Promise<void> {
    await this.#signal(gateway, files, REFUSED);
  }

  async #signal(
    gateway: GatewayProcess,
    files: Readonly<Record<string, string>>,
    answer: string,
  ): Promise<void> {
    await this.write(files);
    const { length } = gateway.lines;
    gateway.child.kill('SIGHUP');
    await gateway.untilLine(({ msg }) => msg === answer, length);
  }
}
