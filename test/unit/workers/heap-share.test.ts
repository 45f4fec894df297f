import assert from 'node:assert/strict';
import test from 'node:test';
import { sharedHeap } from '../../../src/workers/heap-share.ts';

const MB = 2 ** 20;
const usual = { execArgv: [], nodeOptions: '', limitBytes: 9_000 * MB };

test('a limit on the command line is divided, and other options are kept', () => {
  const execArgv = ['--enable-source-maps', '--max-old-space-size=1000'];
  const shared = ['--enable-source-maps', '--max-old-space-size=333'];
  assert.deepEqual(sharedHeap({ ...usual, execArgv }, 3), shared);
});

test('a limit in NODE_OPTIONS is divided, too, unless the command line overrides it', () => {
  const options = { ...usual, nodeOptions: '--trace-warnings --max_old_space_size=600' };
  assert.deepEqual(sharedHeap(options, 2), ['--max-old-space-size=300']);
  const execArgv = ['--max-old-space-size=800'];
  assert.deepEqual(sharedHeap({ ...options, execArgv }, 2), ['--max-old-space-size=400']);
});

test('without an option, the limit that V8 has chosen is divided', () => {
  assert.deepEqual(sharedHeap({ ...usual, limitBytes: 4_144 * MB }, 4), ['--max-old-space-size=1036']);
});
