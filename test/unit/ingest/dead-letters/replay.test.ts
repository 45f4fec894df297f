import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Letters } from '../../../../src/ingest/dead-letters/letters.ts';
import { Replay } from '../../../../src/ingest/dead-letters/replay.ts';
import type { KafkaRecord } from '../../../../src/ingest/record.ts';
import { letterRecord, reader, RecordingSink } from './parts.ts';

function setUp(records: readonly KafkaRecord[], { limit = Infinity, isDryRun = false } = {}) {
  const sink = new RecordingSink();
  const stopping = new AbortController();
  const told: number[] = [];
  const replay = new Replay({
    letters: new Letters([reader(0, records)]),
    isMeant: ({ reason }) => reason === 'not_json',
    limit,
    sink: isDryRun ? undefined : sink,
    onReplayed: ({ record }) => void told.push(record.offset),
    stopping: stopping.signal,
  });
  const sizes = () => sink.batches.map((batch) => batch.length);
  return { replay, sink, stopping, told, sizes };
}

const some = (count: number, value = 'x') =>
  Array.from({ length: count }, (_, offset) => letterRecord({ offset, origin: `bids/0/${offset}`, value }));

test('letters that are meant are sent in order, and told once they are acknowledged', async () => {
  const { replay, sink, told } = setUp([
    letterRecord({ offset: 0, origin: 'bids/1/5', value: 'a' }),
    letterRecord({ offset: 1, reason: 'empty', value: '' }),
    letterRecord({ offset: 2, origin: 'asks/0/3', value: 'b' }),
  ]);
  const outcome = await replay.run();
  const messages = sink.batches.flat();
  assert.deepEqual(
    messages.map(({ topic, partition, value }) => `${topic} ${partition} ${String(value)}`),
    ['bids 1 a', 'asks 0 b'],
  );
  assert.deepEqual(told, [0, 2]);
  const goOnAt = new Map([[0, 3]]);
  assert.deepEqual(outcome, { replayed: 2, withoutValue: 0, goOnAt, error: undefined, uncertain: 0 });
});

test('letters without a value are counted, not sent', async () => {
  const { replay, sink } = setUp([letterRecord({ value: null })]);
  const { replayed, withoutValue, goOnAt } = await replay.run();
  assert.deepEqual([replayed, withoutValue, goOnAt], [0, 1, new Map([[0, 18]])]);
  assert.deepEqual(sink.batches, []);
});

test('a batch is bounded by number and by bytes', async () => {
  const many = setUp(some(1_001));
  await many.replay.run();
  assert.deepEqual(many.sizes(), [500, 500, 1]);
  const large = setUp(some(5, 'x'.repeat(128 * 1_024)));
  await large.replay.run();
  assert.deepEqual(large.sizes(), [2, 2, 1]);
});

test('a limit counts what is sent, and it goes on right behind the last one', async () => {
  const { replay, sizes } = setUp([letterRecord({ offset: 90, value: null }), ...some(10)], { limit: 3 });
  const { replayed, goOnAt } = await replay.run();
  assert.deepEqual([replayed, goOnAt, sizes()], [3, new Map([[0, 3]]), [3]]);
});

test('after a failure it says what was sent, what may have been, and where to go on', async () => {
  const { replay, sink, told } = setUp(some(700));
  sink.failing = (messages) => messages.length === 200;
  const { replayed, goOnAt, error, uncertain } = await replay.run();
  assert.deepEqual([replayed, uncertain, goOnAt], [500, 200, new Map([[0, 500]])]);
  assert.match(String(error), /the broker is away/);
  assert.equal(told.length, 500);
});

test('a stop sends nothing more', async () => {
  const { replay, sink, stopping } = setUp(some(700));
  sink.failing = () => {
    stopping.abort(new Error('stopped by SIGINT'));
    return false;
  };
  const { replayed, goOnAt, error, uncertain } = await replay.run();
  assert.deepEqual([replayed, uncertain, goOnAt], [500, 0, new Map([[0, 500]])]);
  assert.match(String(error), /SIGINT/);
});

test('without a sink letters are told and not sent', async () => {
  const { replay, sink, told } = setUp(some(3), { isDryRun: true });
  const { replayed } = await replay.run();
  assert.deepEqual([replayed, told, sink.batches], [3, [0, 1, 2], []]);
});
