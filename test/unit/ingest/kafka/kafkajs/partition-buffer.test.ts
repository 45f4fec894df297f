import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PartitionBuffer } from '../../../../../src/ingest/kafka/kafkajs/partition-buffer.ts';
import { record } from '../../parts.ts';

const range = { topic: 'dead', partition: 0, start: 3, end: 7 };
const at = (offset: number) => record('x', { offset });
const offsets = async (buffer: PartitionBuffer) => (await buffer.next())?.map(({ offset }) => offset);

test('records before the start and behind the end are left out', async () => {
  const buffer = new PartitionBuffer(range);
  buffer.add([at(2), at(3), at(6), at(7)], 8);
  assert.deepEqual(await offsets(buffer), [3, 6]);
  assert.equal(await buffer.next(), undefined);
});

test('records that are fetched a second time are left out', async () => {
  const buffer = new PartitionBuffer(range);
  buffer.add([at(3), at(4)], 5);
  buffer.add([at(3), at(4)], 5);
  buffer.add([at(4), at(5)], 6);
  assert.deepEqual(await offsets(buffer), [3, 4, 5]);
});

test('the end may be reached by a fetch without records', async () => {
  const buffer = new PartitionBuffer(range);
  const next = buffer.next();
  buffer.add([], 5);
  buffer.add([], 7);
  assert.equal(await next, undefined);
});

test('a partition with nothing to read is at its end', async () => {
  assert.equal(await new PartitionBuffer({ ...range, start: 7 }).next(), undefined);
  assert.equal(await new PartitionBuffer({ ...range, start: 9 }).next(), undefined);
});

test('it is paused while records wait, resumed when they are taken, and paused for good at the end', async () => {
  const buffer = new PartitionBuffer(range);
  const calls: string[] = [];
  const pause = () => {
    calls.push('pause');
    return () => void calls.push('resume');
  };
  buffer.add([at(3)], 4);
  buffer.pauseIfFull(pause);
  await buffer.next();
  buffer.add([], 5);
  buffer.pauseIfFull(pause);
  assert.deepEqual(calls, ['pause', 'resume']);
  buffer.add([at(6)], 7);
  buffer.pauseIfFull(pause);
  await buffer.next();
  assert.deepEqual(calls, ['pause', 'resume', 'pause']);
});

test('an error ends the wait; what was fetched before it is handed over', async () => {
  const buffer = new PartitionBuffer(range);
  const next = buffer.next();
  buffer.fail(new Error('gone'));
  await assert.rejects(next, /gone/);
  buffer.add([at(3)], 4);
  assert.deepEqual(await offsets(buffer), [3]);
});

test('it does not wait for ever for what does not come', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const next = new PartitionBuffer(range).next();
  t.mock.timers.tick(60_000);
  await assert.rejects(next, /expected the records of dead\/0 from 3 to 7, got nothing for a minute/);
});
