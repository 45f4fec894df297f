import { ended, spawnFor } from './child-process.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import type { Scope } from './scope.ts';
import { clientTool } from './services.ts';

/** Apicurio of the test's own, with its store in memory. Needs 'apicurio'. */
export class RegistryProcess {
  readonly port: number;
  readonly #scope: Scope;
  #child: ReturnType<typeof spawnFor> | undefined;

  private constructor(scope: Scope, port: number) {
    this.#scope = scope;
    this.port = port;
  }

  static async start(scope: Scope): Promise<RegistryProcess> {
    const registry = new RegistryProcess(scope, await freePort());
    await registry.start();
    return registry;
  }

  /** Confluent's API. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/apis/ccompat/v7`;
  }

  /** Apicurio's own API. */
  get ownUrl(): string {
    return `http://127.0.0.1:${this.port}/apis/registry/v2`;
  }

  /** Starts it without any schema. Resolves when it answers. */
  async start(): Promise<void> {
    const settings = [`-Dquarkus.http.port=${this.port}`, '-Dquarkus.http.host=127.0.0.1'];
    const memory = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
    this.#child = spawnFor(this.#scope, 'java', [...memory, ...settings, '-jar', clientTool('apicurio')]);
    this.#child.stdout.resume();
    this.#child.stderr.resume();
    await eventually(async () => {
      const { status } = await fetch(`${this.url}/schemas/types`);
      if (status !== 200) throw new Error(`expected 200, got ${status}`);
    });
  }

  async kill(): Promise<void> {
    if (this.#child !== undefined) await ended(this.#child, 'SIGKILL');
  }
}
