import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { Target, Wiring } from '../../loadtest/targets/target.ts';
import { ended, spawnFor } from '../helpers/child-process.ts';
import { eventually } from '../helpers/eventually.ts';

export interface TargetProcess {
  readonly url: string;
  /** Asks it to end. @returns its exit code, and what it has written to standard error */
  stop(): Promise<{ readonly code: number | null; readonly complaints: string }>;
}

/** A server of the load test as its driver starts it; it gets every event from then on. Stopped when the test ends. */
export async function startTarget(t: TestContext, target: Target, wiring: Wiring): Promise<TargetProcess> {
  const child = spawnFor(t, process.execPath, ['--enable-source-maps', ...target.program], {
    env: { PATH: process.env['PATH'], ...target.environment(wiring) },
  });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const { port, adminPort } = await new Promise<{ port: number; adminPort?: number }>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${target.name} ended with ${code}: ${complaints}`)));
    createInterface(child.stdout).on('line', (text) => {
      const line = JSON.parse(text) as { msg: string; port: number; adminPort?: number };
      if (line.msg === 'listening') resolve(line);
    });
  });
  if (adminPort !== undefined) {
    await eventually(async () => {
      const response = await fetch(`http://127.0.0.1:${adminPort}/readyz`);
      if (!response.ok) throw new Error(await response.text());
    });
  }
  return {
    url: `ws://127.0.0.1:${port}/graphql`,
    async stop() {
      await ended(child, 'SIGTERM');
      return { code: child.exitCode, complaints };
    },
  };
}
