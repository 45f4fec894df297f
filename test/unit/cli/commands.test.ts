import assert from 'node:assert/strict';
import test from 'node:test';
import { isHelp, usage, usageOf } from '../../../src/cli/commands.ts';

test('commands with many options have a usage of their own, all others the one of sluice', async () => {
  const explain = await usageOf('explain');
  for (const option of ['connection', 'topic', 'partition', 'offset', 'key', 'url', 'worker', 'json']) {
    assert.match(explain, new RegExp(`^  --${option} `, 'm'));
  }
  assert.match(await usageOf('dead-letters'), /^sluice dead-letters list/);
  for (const name of ['serve', 'serv', undefined]) assert.equal(await usageOf(name), usage());
});

test('help is asked for in either form', () => {
  assert.deepEqual(['--help', '-h', '--hel', 'help'].map(isHelp), [true, true, false, false]);
});
