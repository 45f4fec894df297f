import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const FIGURES = path.join(import.meta.dirname, 'heap-figures.js');

/** In a process of its own: what other tests leave in a heap may go at any time. */
async function measured(): Promise<Readonly<Record<string, number>>> {
  const { stdout } = await promisify(execFile)(process.execPath, [FIGURES]);
  return JSON.parse(stdout) as Record<string, number>;
}

test('what is alive is known as soon as garbage has been collected: with what is held, and without it once it is not', async () => {
  const { limit = 0, bytes = 0, before = 0, besideGarbage = 0, full = 0, after = 0 } = await measured();
  assert.ok(before > 0 && before < limit, `${before} of ${limit}`);
  assert.ok(besideGarbage - before < bytes, `expected about ${before} beside garbage, got ${besideGarbage}`);
  assert.ok(full - before > bytes, `expected ${bytes} bytes more than ${before}, got ${full}`);
  assert.ok(full - after > bytes, `expected the objects to be gone, got ${after} after ${full}`);
});
