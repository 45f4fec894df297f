import assert from 'node:assert/strict';
import test from 'node:test';
import { PUBLISH_ON_ALL, publishCommands, repliesOf } from '../../../../src/bus/redis/publish-commands.ts';
import { range } from '../../../helpers/numbers.ts';

const onAll = (payload: string, channels: readonly string[]) =>
  channels.map((channel) => ({ channel, payload }));

const LARGE = 'x'.repeat(4_096);
const CHANNELS = range(0, 300).map(String);

test('the payload of an event that goes to many channels is sent once', () => {
  const batch = [...onAll('a', ['1']), ...onAll(LARGE, CHANNELS), ...onAll('b', ['1', '2'])];
  const commands = publishCommands(batch, 'key');
  assert.deepEqual(
    commands.map(({ command }) => command),
    [
      ['PUBLISH', '1', 'a'],
      ['EVAL', PUBLISH_ON_ALL, '1', 'key', LARGE, ...CHANNELS],
      ['PUBLISH', '1', 'b'],
      ['PUBLISH', '2', 'b'],
    ],
  );
  const failed = { error: new Error('refused') };
  const replies = repliesOf(commands, [{ value: 1 }, failed, { value: 2 }, { value: 3 }]);
  assert.deepEqual(replies, [{ value: 1 }, ...CHANNELS.map(() => failed), { value: 2 }, { value: 3 }]);
});

const names = (...asked: Parameters<typeof publishCommands>) =>
  new Set(publishCommands(...asked).map(({ command: [name] }) => name));

test('copies that are few or small are sent each, and all are where Redis permits no scripts', () => {
  assert.deepEqual(names(onAll(LARGE, ['1', '2']), 'key'), new Set(['PUBLISH']));
  assert.deepEqual(names(onAll('small', CHANNELS), 'key'), new Set(['PUBLISH']));
  assert.deepEqual(names(onAll(LARGE, CHANNELS), undefined), new Set(['PUBLISH']));
  assert.equal(publishCommands(onAll(LARGE, CHANNELS), undefined).length, CHANNELS.length);
});
