import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { spawnFor } from '../helpers/child-process.ts';
import { PATIENCE_MS } from '../helpers/eventually.ts';

/** What a client has told: a result's data, or how its subscription ended. */
export interface Told {
  readonly id: string;
  readonly data?: unknown;
  readonly error?: string;
  readonly isComplete?: true;
}

export type Command =
  | { readonly id: string; readonly query: string; readonly variables: object }
  | { readonly id: string; readonly stop: true }
  | { readonly id: string; readonly do: string; readonly [argument: string]: unknown };

/** A client under test. It takes commands and tells what comes, a line of JSON each. */
export class Program {
  readonly #told: Told[] = [];
  readonly #changes = new EventEmitter();
  readonly #send: (line: string) => void;
  #fault: string | undefined;

  /** @param send brings a line to the client */
  constructor(send: (line: string) => void) {
    this.#send = send;
  }

  /** Starts a process of the client. */
  static spawn(t: TestContext, [command, ...args]: readonly [string, ...string[]], env: object): Program {
    const child = spawnFor(t, command, args, { env: { ...process.env, ...env } });
    const program = new Program((line) => child.stdin.write(`${line}\n`));
    createInterface(child.stdout).on('line', (line) => program.take(line));
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    child.stdin.on('error', () => undefined);
    child.once('exit', (code) => program.fail(`the client ended with ${code}: ${complaints}`));
    return program;
  }

  take(line: string): void {
    this.#told.push(JSON.parse(line) as Told);
    this.#changes.emit('change');
  }

  fail(fault: string): void {
    this.#fault ??= fault;
    this.#changes.emit('change');
  }

  command(command: Command): void {
    this.#send(JSON.stringify(command));
  }

  /** All that the client has told, for errors of tests. */
  toString(): string {
    return [this.#fault, ...this.#told.map((told) => JSON.stringify(told))].join(' ');
  }

  /** Data of one subscription, so far. */
  dataOf(id: string): unknown[] {
    return this.#told.filter((told) => told.id === id && 'data' in told).map(({ data }) => data);
  }

  /** Waits for so many results; nothing else may come before. */
  async untilData(id: string, count: number): Promise<unknown[]> {
    await this.#until(() => {
      const end = this.#endOf(id);
      if (end !== undefined) throw new Error(`expected ${count} results, got ${this}`);
      return this.dataOf(id).length >= count;
    });
    return this.dataOf(id);
  }

  /** Waits until the client has told that a subscription is over. */
  async untilEnd(id: string): Promise<Told> {
    await this.#until(() => this.#endOf(id) !== undefined);
    return this.#endOf(id) as Told;
  }

  #endOf(id: string): Told | undefined {
    return this.#told.find((told) => told.id === id && !('data' in told));
  }

  async #until(holds: () => boolean): Promise<void> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    while (!holds()) {
      if (this.#fault !== undefined) throw new Error(this.#fault);
      await once(this.#changes, 'change', { signal }).catch((cause: unknown) => {
        throw new Error(`not so in time; the client has told ${this}`, { cause });
      });
    }
  }
}
