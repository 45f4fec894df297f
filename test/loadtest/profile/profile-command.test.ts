import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { readArguments, UsageError } from '../../../loadtest/command.ts';
import { underClinic } from '../../../loadtest/profile/clinic-target.ts';
import { PROFILE_OPTIONS, readProfile, type Profile } from '../../../loadtest/profile/profile-options.ts';
import { loadtest } from '../../helpers/loadtest.ts';

const profileOf = (...args: string[]): Profile =>
  readProfile(readArguments('profile', { options: PROFILE_OPTIONS, positionals: 'tool' }, args));

test('a tool that clinic does not have, or that hangs, is refused before anything is fetched', async () => {
  for (const [args, got] of [
    [[], 'nothing'],
    [['bubbleprof'], 'bubbleprof'],
    [['doctor', 'flame'], 'doctor flame'],
  ] as const) {
    const { code, stderr, stdout } = await loadtest('profile', ...args);
    assert.deepEqual([code, stderr, stdout], [2, `expected doctor or flame, got ${got}\n`, '']);
  }
});

test('options that make no sense are refused with what was expected', () => {
  for (const [args, message] of [
    [['--seconds', '0'], /--seconds: .* from 1 to 600, got 0/],
    [['--sockets', '-1'], /--sockets/],
    [['--pods', '2'], /--pods/],
  ] as const) {
    assert.throws(() => profileOf('flame', ...args), { constructor: UsageError, message });
  }
});

test('the load has the options of a load test, with small defaults', () => {
  const { tool, load, out } = profileOf('doctor');
  assert.deepEqual(
    [tool, load.sockets, load.floodSeconds, load.graph, out],
    ['doctor', 1000, 10, 'flat', undefined],
  );
  const asked = profileOf('flame', '--sockets=20', '--seconds=3', '--graph=company', '--out=here');
  assert.deepEqual([asked.tool, asked.load.sockets, asked.load.floodSeconds], ['flame', 20, 3]);
  assert.deepEqual([asked.load.graph, asked.out], ['company', 'here']);
});

test('clinic starts the gateway as users do, opens no browser, and asks no question', () => {
  const { program, environment } = underClinic('clinic.js', 'doctor', 'folder');
  const gateway = program.slice(program.indexOf('--') + 1);
  assert.deepEqual([gateway[0], path.basename(gateway[1] ?? ''), gateway[2]], ['node', 'cli.js', 'serve']);
  assert.deepEqual(program.slice(0, 2), ['clinic.js', 'doctor']);
  assert.ok(program.includes('--open=false'));
  const wiring = { brokers: 'b:1', redisUrl: 'redis://r', topic: 't', graph: 'g', id: 'i' };
  assert.equal(environment(wiring)['NO_INSIGHT'], '1');
  assert.equal(environment(wiring)['KAFKA_BROKERS'], 'b:1');
});
