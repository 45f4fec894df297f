import assert from 'node:assert/strict';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { ended, spawnFor } from './child-process.ts';
import { eventually } from './eventually.ts';

const CLI = path.join(import.meta.dirname, '../../src/cli.js');

/** Variables of the machine that a gateway under test needs; settings of the runner's own stay away. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'TMPDIR'];

/** Joining a Kafka group takes seconds, more on a busy machine. */
const PATIENCE_MS = 45_000;

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A gateway process of its own, started through the command line as a user would. */
export class GatewayProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: LogLine[] = [];
  port = 0;
  adminPort = 0;
  stderr = '';

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
  }

  get graphqlUrl(): string {
    return `ws://127.0.0.1:${this.port}/graphql`;
  }

  get httpUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get adminUrl(): string {
    return `http://127.0.0.1:${this.adminPort}`;
  }

  /** A metric's value, all its labels added up unless they are named. */
  async metric(name: string): Promise<number> {
    const response = await fetch(`${this.adminUrl}/metrics`);
    return metricIn(await response.text(), name);
  }

  /** Waits until a metric is as wanted. */
  async untilMetric(name: string, wanted: number): Promise<void> {
    await eventually(async () => assert.equal(await this.metric(name), wanted, name), {
      withinMs: PATIENCE_MS,
    });
  }

  async untilReady(): Promise<void> {
    await eventually(
      async () => {
        const response = await fetch(`${this.adminUrl}/readyz`);
        assert.ok(response.ok, await response.text());
      },
      { withinMs: PATIENCE_MS },
    );
  }

  /** Waits until the pod is not ready for this reason. */
  async untilNotReady(reason: RegExp): Promise<void> {
    await eventually(
      async () => {
        const response = await fetch(`${this.adminUrl}/readyz`);
        assert.equal(response.status, 503);
        assert.match(await response.text(), reason);
      },
      { withinMs: PATIENCE_MS },
    );
  }

  /** Waits until a line of the log is like this. */
  async untilLog(pattern: RegExp): Promise<void> {
    await eventually(() => assert.ok(this.lines.some((line) => pattern.test(JSON.stringify(line)))), {
      withinMs: PATIENCE_MS,
    });
  }

  /** @returns the exit code; null if the signal ended it */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    await ended(this.child, signal);
    return this.child.exitCode;
  }
}

function metricIn(text: string, name: string): number {
  const values = text
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(' '))));
  return values.reduce((sum, value) => sum + value, 0);
}

/** Ports that are free, and no waiting at the end for load balancers and clients that are not there. */
const DEFAULTS = { PORT: '0', ADMIN_PORT: '0', DRAIN_DELAY_SECONDS: '0', DRAIN_SECONDS: '0' };

/** Starts a gateway on free ports and waits until it listens. It is stopped when the test ends. */
export async function startGateway(
  t: TestContext,
  settings: Readonly<Record<string, string>>,
): Promise<GatewayProcess> {
  return untilListening(spawnCli(t, ['serve'], { ...DEFAULTS, ...settings }));
}

/** The gateway that a process becomes, however it was started. */
export async function untilListening(child: ChildProcessWithoutNullStreams): Promise<GatewayProcess> {
  const gateway = new GatewayProcess(child);
  await new Promise<void>((resolve, reject) => {
    gateway.child.once('exit', (code) =>
      reject(new Error(`the gateway ended with ${code}: ${gateway.stderr}`)),
    );
    createInterface(gateway.child.stdout).on('line', (text) => {
      const line = JSON.parse(text) as LogLine;
      gateway.lines.push(line);
      if (line.msg !== 'listening') return;
      gateway.port = Number(line['port']);
      gateway.adminPort = Number(line['adminPort']);
      resolve();
    });
  });
  return gateway;
}

/** Runs the command line to its end. */
export async function runCli(
  t: TestContext,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawnCli(t, args, settings);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

export function spawnCli(
  t: TestContext,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): ChildProcessWithoutNullStreams {
  const env: Record<string, string> = { ...settings };
  for (const name of INHERITED) {
    const value = process.env[name];
    if (value !== undefined) env[name] ??= value;
  }
  return spawnFor(t, process.execPath, ['--enable-source-maps', CLI, ...args], { env });
}
