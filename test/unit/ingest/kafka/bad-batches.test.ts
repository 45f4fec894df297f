import assert from 'node:assert/strict';
import { test } from 'node:test';
import { events, FakeBatch, setUp } from './batch-parts.ts';

const BAD = { firstOffset: 3, lastOffset: 7, error: new Error('a wrong checksum') };

const bad = (): FakeBatch => new FakeBatch([], [], BAD);

test('stop: the partition is paused, for longer each time, and its offset stays where it is', async () => {
  const { processor, badBatches, clock, metrics, lines } = setUp();
  const tries = [bad(), bad(), bad()];
  for (const batch of tries) await processor.process(batch);
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
  const text = await metrics.registry.metrics();
  assert.match(text, /sluice_bad_batches_total\{topic="bids"\} 1\n/);
  assert.match(text, /sluice_bad_partitions\{topic="bids"\} 1\n/);
});

test('a partition whose batch can be decoded again is said to go on', async () => {
  const { processor, metrics, lines } = setUp();
  await processor.process(bad());
  await processor.process(new FakeBatch(events(1)));
  assert.match(String(lines.at(-1)?.['msg']), /goes on/);
  assert.match(await metrics.registry.metrics(), /sluice_bad_partitions\{topic="bids"\} 0\n/);
});

test('skip: the batch is counted, sent to the dead-letter topic and committed as a whole', async () => {
  const { processor, buried, metrics } = setUp([], {}, 'skip');
  const batch = bad();
  await processor.process(batch);
  assert.deepEqual([batch.pauses, batch.committed], [0, [8]]);
  assert.deepEqual(buried, [
    {
      key: null,
      value: null,
      headers: {
        'sluice-topic': 'bids',
        'sluice-partition': '0',
        'sluice-offset': '3',
        'sluice-last-offset': '7',
        'sluice-reason': 'bad_batch',
      },
    },
  ]);
  assert.match(await metrics.registry.metrics(), /sluice_bad_batches_total\{topic="bids"\} 1\n/);
});

for (const [what, lastOffset, committed] of [
  ['the partition to its end at most', Number.MAX_SAFE_INTEGER, 10],
  ['no partition back to what has been published', -5, 4],
] as const) {
  test(`skip: a header that is damaged too moves ${what}`, async () => {
    const { processor } = setUp([], {}, 'skip');
    const batch = new FakeBatch([], [], { ...BAD, lastOffset });
    await processor.process(batch);
    assert.deepEqual(batch.committed, [committed]);
  });
}

test('skip: a batch of which it is not known where it ends stops its partition', async () => {
  const { processor, buried, badBatches } = setUp([], {}, 'skip');
  const batch = new FakeBatch([], [], { ...BAD, lastOffset: undefined });
  await processor.process(batch);
  assert.deepEqual([batch.pauses, batch.committed, buried], [1, [], []]);
  assert.equal(badBatches.reason('bids', 0), 'a wrong checksum');
});

test('skip: while the dead-letter topic is away the partition is stopped, and no other', async () => {
  const { processor, sink, buried, metrics } = setUp([], {}, 'skip');
  sink.failing = true;
  const refused = bad();
  await processor.process(refused);
  assert.deepEqual([refused.pauses, refused.committed], [1, []]);
  assert.match(await metrics.registry.metrics(), /sluice_bad_partitions\{topic="bids"\} 1\n/);
  sink.failing = false;
  const skipped = bad();
  await processor.process(skipped);
  assert.deepEqual([skipped.pauses, skipped.committed, buried.length], [0, [8], 1]);
  assert.match(await metrics.registry.metrics(), /sluice_bad_partitions\{topic="bids"\} 0\n/);
});
