import assert from 'node:assert/strict';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Changes } from './changes.ts';
import { ended, spawnFor } from './child-process.ts';
import { eventually } from './eventually.ts';
import { postJson } from './http-exchange.ts';
import type { Scope } from './scope.ts';

const CLI = path.join(import.meta.dirname, '../../src/cli.js');

/** Variables of the machine that a gateway under test inherits; it gets no settings of the test runner. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'TMPDIR'];

const LINES_TOLD = 10;

/** Names of metrics that never decrease. */
const COUNTERS = /^\w+_total\b/;

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A gateway process that is started by the command line, as by a user. */
export class GatewayProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: LogLine[] = [];
  /** Lines of standard output that do not belong to the log. */
  readonly printed: string[] = [];
  /** Emits after each line of the log or of `printed`. */
  readonly output = new Changes();
  /** Whether the public port speaks TLS. */
  readonly isSecure: boolean;
  port = 0;
  adminPort = 0;
  stderr = '';
  /** Resolves when the process has ended and its pipes are closed. */
  readonly #closed: Promise<unknown>;
  #metricsBefore = '';

  constructor(child: ChildProcessWithoutNullStreams, isSecure = false) {
    this.child = child;
    this.isSecure = isSecure;
    child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.#closed = once(child, 'close');
  }

  get graphqlUrl(): string {
    return `${this.isSecure ? 'wss' : 'ws'}://127.0.0.1:${this.port}/graphql`;
  }

  get httpUrl(): string {
    return `${this.isSecure ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  get adminUrl(): string {
    return `http://127.0.0.1:${this.adminPort}`;
  }

  /** Returns a metric's value, summed over labels that are not named; a counter counts from `beginAnew` on. */
  async metric(name: string): Promise<number> {
    const before = COUNTERS.test(name) ? metricIn(this.#metricsBefore, name) : 0;
    return metricIn(await this.#metrics(), name) - before;
  }

  /** Returns the JSON of a page below `/debug/`. */
  async debug<T>(page: string): Promise<T> {
    return (await (await fetch(`${this.adminUrl}/debug/${page}`)).json()) as T;
  }

  /** Sends an event to a gateway without Kafka, which must accept it. */
  async postEvent(topic: string, event: unknown): Promise<void> {
    const { status, body } = await postJson(`${this.httpUrl}/events/${topic}`, event);
    assert.equal(status, 202, body);
  }

  /** For a test after others: resolves when none of their connections is left. Counters count from then on. */
  async beginAnew(): Promise<void> {
    for (const name of ['connections', 'subscribers', 'groups']) await this.untilMetric(`sluice_${name}`, 0);
    this.#metricsBefore = await this.#metrics();
  }

  /** Waits until a metric has this value and keeps it: a value that passes quickly may not be seen. */
  async untilMetric(name: string, wanted: number): Promise<void> {
    await this.#eventually(async () => assert.equal(await this.metric(name), wanted, name));
  }

  /** Waits until a metric that may grow further has reached this value. @returns its value then */
  async untilAtLeast(name: string, least: number): Promise<number> {
    return this.#eventually(async () => {
      const value = await this.metric(name);
      assert.ok(value >= least, `expected ${name} to reach ${least}, got ${value}`);
      return value;
    });
  }

  /** Waits until a counter has grown after `act`: it may have grown before, and may grow further. */
  async untilGrown(name: string, act: () => unknown): Promise<void> {
    const before = await this.metric(name);
    await act();
    await this.untilAtLeast(name, before + 1);
  }

  async untilReady(): Promise<void> {
    await this.#eventually(async () => {
      const response = await fetch(`${this.adminUrl}/readyz`);
      assert.ok(response.ok, await response.text());
    });
  }

  /** Waits until the pod is not ready for this reason. */
  async untilNotReady(reason: RegExp): Promise<void> {
    await this.#eventually(async () => {
      const response = await fetch(`${this.adminUrl}/readyz`);
      assert.equal(response.status, 503);
      assert.match(await response.text(), reason);
    });
  }

  /** Waits until a line of the log matches. */
  async untilLog(pattern: RegExp): Promise<void> {
    await this.untilLine((line) => pattern.test(JSON.stringify(line)));
  }

  /** Waits until this text has been printed, as a line or a part of one. */
  async untilPrinted(part: string): Promise<void> {
    await this.output.until(
      () => this.printed.find((line) => line.includes(part)),
      () => `expected ${part}, got\n${this.printed.join('\n')}`,
    );
  }

  /** Waits for a line of the log. @param from the number of lines that are passed over */
  async untilLine(fits: (line: LogLine) => boolean, from = 0): Promise<LogLine> {
    return this.output.until(
      () => this.lines.slice(from).find(fits),
      () => `expected a line for which ${fits}, from line ${from}; ${this.#lastLines()}`,
    );
  }

  /**
   * Sends signals until the process ends: the gateway takes further ones within a second of the first for the same.
   *
   * @returns the exit code
   */
  async insist(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    await eventually(() => {
      this.child.kill(signal);
      assert.notEqual(this.child.exitCode ?? this.child.signalCode, null);
    });
    return this.child.exitCode;
  }

  /** Resolves when the process has ended, with its complete output. @returns the exit code; null: by the signal */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    await ended(this.child, signal);
    await this.#closed;
    return this.child.exitCode;
  }

  /** Adds the last lines of the gateway's log to the error. */
  async #eventually<T>(check: () => T | Promise<T>): Promise<T> {
    return eventually(check).catch((cause: Error) => {
      throw new Error(`${cause.message}\n${this.#lastLines()}`, { cause });
    });
  }

  #lastLines(): string {
    const said = this.lines.slice(-LINES_TOLD).map((line) => JSON.stringify(line));
    return ['The last lines of the log:', ...said].join('\n  ');
  }

  async #metrics(): Promise<string> {
    return (await fetch(`${this.adminUrl}/metrics`)).text();
  }
}

/** Sums a metric over several gateways. */
export async function sumOf(gateways: readonly GatewayProcess[], metric: string): Promise<number> {
  const values = await Promise.all(gateways.map((gateway) => gateway.metric(metric)));
  return values.reduce((sum, value) => sum + value, 0);
}

function metricIn(metrics: string, name: string): number {
  const values = metrics
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(' '))));
  return values.reduce((sum, value) => sum + value, 0);
}

/**
 * Free ports, no wait at the end for load balancers and clients, and short sessions. Tests connect as fast as they can,
 * on machines that may stand still before they send `connection_init`.
 */
export const GATEWAY_DEFAULTS = {
  PORT: '0',
  ADMIN_PORT: '0',
  DRAIN_DELAY_SECONDS: '0',
  DRAIN_SECONDS: '0',
  KAFKA_SESSION_TIMEOUT_MS: '6000',
  CONNECTIONS_PER_SECOND: '0',
  INIT_TIMEOUT_MS: '60000',
};

/**
 * Starts a gateway on free ports and waits until it listens. It is stopped with its scope.
 *
 * @param cli the program of another version
 */
export async function startGateway(
  scope: Scope,
  settings: Readonly<Record<string, string>>,
  cli?: string,
): Promise<GatewayProcess> {
  const child = spawnCli(scope, ['serve'], { ...GATEWAY_DEFAULTS, ...settings }, cli);
  return untilListening(child, settings['TLS_CERT'] !== undefined);
}

/** Starts a gateway and waits until it is ready. */
export async function startReady(
  scope: Scope,
  settings: Readonly<Record<string, string>>,
): Promise<GatewayProcess> {
  const gateway = await startGateway(scope, settings);
  await gateway.untilReady();
  return gateway;
}

/** Waits until a process, however it was started, is a gateway that listens. */
export async function untilListening(
  child: ChildProcessWithoutNullStreams,
  isSecure = false,
): Promise<GatewayProcess> {
  const gateway = new GatewayProcess(child, isSecure);
  await new Promise<void>((resolve, reject) => {
    gateway.child.once('exit', (code) =>
      reject(new Error(`the gateway ended with ${code}: ${gateway.stderr}`)),
    );
    createInterface(gateway.child.stdout).on('line', (said) => {
      if (said.startsWith('{')) {
        const line = JSON.parse(said) as LogLine;
        gateway.lines.push(line);
        if (line.msg === 'listening') {
          gateway.port = Number(line['port']);
          gateway.adminPort = Number(line['adminPort']);
          resolve();
        }
      } else gateway.printed.push(said);
      gateway.output.emit();
    });
  });
  return gateway;
}

/** Runs the command line to its end. */
export async function runCli(
  scope: Scope,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawnCli(scope, args, settings);
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: (await closed)[0], stdout, stderr };
}

export function spawnCli(
  scope: Scope,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  cli = CLI,
): ChildProcessWithoutNullStreams {
  const env: Record<string, string> = { ...settings };
  for (const name of INHERITED) {
    const value = process.env[name];
    if (value !== undefined) env[name] ??= value;
  }
  // The working directory may hold the developer's own .env.
  return spawnFor(scope, process.execPath, [cli, ...args], { cwd: import.meta.dirname, env });
}
