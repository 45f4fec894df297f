import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';

const CLI = path.join(import.meta.dirname, 'cli.js');

/** @returns the output of the command, and its exit code */
export async function simulate(...args: readonly string[]): Promise<{ output: string; code: number | null }> {
  const child = fork(CLI, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const { stdout } = child;
  assert.ok(stdout);
  const [output, [code]] = await Promise.all([text(stdout), once(child, 'exit') as Promise<[number | null]>]);
  return { output, code };
}

/** Tests `count` seeds from this one on, as many at a time as there are processors. */
export function testSeeds(from: number, count: number): void {
  test(
    'under faults of every kind no event is lost untold, doubled or out of order',
    { timeout: 900_000 },
    async () => {
      const workers = String(Math.min(availableParallelism(), 8));
      const range = ['--from', String(from), '--seeds', String(count)];
      const { output, code } = await simulate(...range, '--workers', workers);
      assert.equal(code, 0, output);
      assert.match(output, /0 with violations, [1-9]/);
    },
  );
}
