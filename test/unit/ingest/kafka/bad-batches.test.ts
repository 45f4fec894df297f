import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchTooLarge } from '../../../../src/ingest/kafka/codecs.ts';
import { events, FakeBatch, setUp } from './batch-parts.ts';

const BAD = { firstOffset: 3, lastOffset: 7, error: new Error('a wrong checksum') };

const bad = (how: object = {}): FakeBatch => new FakeBatch([], [], { ...BAD, ...how });

/** A consumer, and how many partitions and batches of it are bad. */
function consumer(policy: 'stop' | 'skip') {
  const parts = setUp({ policy });
  const counted = async () => {
    const text = await parts.metrics.registry.metrics();
    const [, batches] = /^sluice_bad_batches_total\{topic="bids"\} (\d+)$/m.exec(text) ?? [];
    const [, partitions] = /^sluice_bad_partitions\{topic="bids"\} (\d+)$/m.exec(text) ?? [];
    return { partitions, batches };
  };
  return { ...parts, counted };
}

test('stop: the partition is paused, for longer each time, and its offset stays where it is', async () => {
  const { consume, badBatches, clock, counted, lines } = consumer('stop');
  const tries = [bad(), bad(), bad()];
  for (const batch of tries) await consume(batch);
  await new Promise(setImmediate);
  assert.deepEqual(
    tries.map(({ pauses, resumes, committed }) => [pauses, resumes, committed]),
    tries.map(() => [1, 1, []]),
  );
  assert.deepEqual(clock.waits, [400, 800, 1_600]);
  assert.equal(badBatches.reason('bids', 0), 'a wrong checksum');
  assert.deepEqual(
    lines.map(({ level, topic, partition, offset, error }) => [level, topic, partition, offset, error]),
    [[50, 'bids', 0, 3, 'a wrong checksum']],
  );
  assert.deepEqual(await counted(), { partitions: '1', batches: '1' });
});

test('a partition whose batch can be decoded again is said to go on', async () => {
  const { consume, counted, lines } = consumer('stop');
  await consume(bad());
  await consume(events(1));
  assert.match(String(lines.at(-1)?.['msg']), /goes on/);
  assert.equal((await counted()).partitions, '0');
});

test('skip: the batch is counted, sent to the dead-letter topic and committed as a whole', async () => {
  const { consume, buried, counted } = consumer('skip');
  const { pauses, committed } = await consume(bad());
  assert.deepEqual([pauses, committed], [0, [8]]);
  const headers = {
    'sluice-topic': 'bids',
    'sluice-partition': '0',
    'sluice-offset': '3',
    'sluice-last-offset': '7',
    'sluice-reason': 'bad_batch',
  };
  assert.deepEqual(buried, [{ key: null, value: null, headers }]);
  assert.equal((await counted()).batches, '1');
});

for (const [what, lastOffset, expected] of [
  ['the partition to its end at most', Number.MAX_SAFE_INTEGER, 10],
  ['no partition back to what has been published', -5, 4],
] as const) {
  test(`skip: a header that is damaged too moves ${what}`, async () => {
    const { committed } = await consumer('skip').consume(bad({ lastOffset }));
    assert.deepEqual(committed, [expected]);
  });
}

test('skip: a batch of which it is not known where it ends stops its partition', async () => {
  const { consume, buried, badBatches } = consumer('skip');
  const { pauses, committed } = await consume(bad({ lastOffset: undefined }));
  assert.deepEqual([pauses, committed, buried], [1, [], []]);
  assert.equal(badBatches.reason('bids', 0), 'a wrong checksum');
});

test('skip: while the dead-letter topic is away the partition is stopped, and no other', async () => {
  const { consume, sink, buried, counted } = consumer('skip');
  sink.failing = true;
  const refused = await consume(bad());
  assert.deepEqual([refused.pauses, refused.committed, (await counted()).partitions], [1, [], '1']);
  sink.failing = false;
  const skipped = await consume(bad());
  assert.deepEqual([skipped.pauses, skipped.committed, buried.length], [0, [8], 1]);
  assert.equal((await counted()).partitions, '0');
});

test('stop: a batch that is too large is skipped all the same, and its dead letter says so', async () => {
  const { consume, buried, counted } = consumer('stop');
  const { pauses, committed } = await consume(bad({ error: new BatchTooLarge() }));
  assert.deepEqual([pauses, committed], [0, [8]]);
  assert.deepEqual(
    buried.map(({ headers }) => headers['sluice-reason']),
    ['too_large'],
  );
  assert.equal((await counted()).batches, '1');
});
