import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Target, Wiring } from './target.ts';
import { lastChildOf, usageOf, type Usage } from './process-tree.ts';
import type { ProbeAnswers, ProbeRequest } from './probe-messages.ts';

const PROBE = pathToFileURL(path.join(import.meta.dirname, 'probe.js')).href;

/** The variables that a server inherits: it gets no settings of the shell that runs the load test. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'NODE_OPTIONS'];

const START_MS = 60_000;
const STOP_MS = 10_000;
const POLL_MS = 100;
const KEPT_LINES = 20;

interface Pending {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

interface Listening {
  readonly msg: string;
  readonly port: number;
  readonly adminPort?: number;
}

/** A server under test, in a process of its own. */
export class Server {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #wrapper: Target['wrapper'];
  readonly #lastLines: string[] = [];
  readonly #pending = new Map<number, Pending>();
  /** Rejects when the process ends. */
  readonly ended: Promise<never>;
  #listening: Listening | undefined;
  #number = 0;

  private constructor(child: ChildProcess, { name, wrapper }: Target) {
    this.#child = child;
    this.#name = name;
    this.#wrapper = wrapper;
    child.on('message', (message: { answer: number }) => {
      this.#pending.get(message.answer)?.resolve(message);
      this.#pending.delete(message.answer);
    });
    this.ended = once(child, 'exit').then(() => {
      const error = new Error(this.#ending());
      for (const { reject } of this.#pending.values()) reject(error);
      throw error;
    });
    // Handled here too: before a run starts and after it has ended, no caller waits for it.
    this.ended.catch(() => undefined);
  }

  /** Resolves when the server gets every event that is sent from then on. */
  static async start(target: Target, wiring: Wiring): Promise<Server> {
    const inherited = Object.fromEntries(INHERITED.map((name) => [name, process.env[name]]));
    const child = spawn(process.execPath, ['--expose-gc', '--import', PROBE, ...target.program], {
      env: { ...inherited, NODE_ENV: 'production', ...target.environment(wiring) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const server = new Server(child, target);
    try {
      await server.#started();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  get port(): number {
    return this.#listening?.port ?? 0;
  }

  /** undefined if the server has no admin port. */
  get adminUrl(): string | undefined {
    const port = this.#listening?.adminPort;
    return port === undefined ? undefined : `http://127.0.0.1:${port}`;
  }

  get usage(): Usage {
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) {
      throw new Error(this.#ending());
    }
    return usageOf(pid);
  }

  ask<Name extends Exclude<ProbeRequest['ask'], 'snapshot'>>(ask: Name): Promise<ProbeAnswers[Name]> {
    return this.#ask({ ask });
  }

  /** Writes a heap snapshot of the server to the file. */
  async snapshot(file: string): Promise<void> {
    await this.#ask({ ask: 'snapshot', file });
  }

  /** One of the server's metrics, summed over labels; undefined if the server has no such metric. */
  async metric(name: string): Promise<number | undefined> {
    if (this.adminUrl === undefined) return undefined;
    const text = await (await fetch(`${this.adminUrl}/metrics`)).text();
    if (!text.includes(`# TYPE ${name} `)) return undefined;
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  async stop(): Promise<void> {
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    const withinMs = this.#wrapper?.endsWithinMs ?? STOP_MS;
    const killing = setTimeout(() => this.#child.kill('SIGKILL'), withinMs);
    process.kill(this.#wrapper === undefined ? pid : lastChildOf(pid), 'SIGTERM');
    await exit;
    clearTimeout(killing);
  }

  async #ask<T>(request: { readonly ask: ProbeRequest['ask']; readonly file?: string }): Promise<T> {
    const number = (this.#number += 1);
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(number, { resolve: resolve as Pending['resolve'], reject });
      this.#child.send({ number, ...request }, (error) => {
        if (error !== null) reject(new Error(this.#ending(), { cause: error }));
      });
    });
  }

  async #started(): Promise<void> {
    const late = delay(START_MS, undefined, { ref: false }).then(() => {
      throw new Error(
        `${this.#name} was not ready within ${START_MS / 1000} s\n${this.#lastLines.join('\n')}`,
      );
    });
    await Promise.race([this.#ready(), this.ended, late]);
    late.catch(() => undefined);
  }

  async #ready(): Promise<void> {
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error('expected its output to be piped');
    createInterface(stderr).on('line', (line) => this.#keep(line));
    this.#listening = await new Promise<Listening>((resolve) => {
      createInterface(stdout).on('line', (line) => {
        this.#keep(line);
        if (line.includes('"msg":"listening"')) resolve(JSON.parse(line) as Listening);
      });
    });
    if (this.adminUrl === undefined) return;
    while (!(await fetch(`${this.adminUrl}/readyz`)).ok) await delay(POLL_MS);
  }

  #keep(line: string): void {
    this.#lastLines.push(line);
    if (this.#lastLines.length > KEPT_LINES) this.#lastLines.shift();
  }

  #ending(): string {
    const { exitCode, signalCode } = this.#child;
    return `${this.#name} has ended with ${signalCode ?? exitCode}\n${this.#lastLines.join('\n')}`;
  }
}
