import assert from 'node:assert/strict';
import test from 'node:test';
import type { LogRange, Reader } from '../../../../src/events/consumption.ts';
import { decodeMessage } from '../../../../src/events/message.ts';
import type { Topic } from '../../../../src/graph/graph.ts';
import type { PartitionPosition, RecordRange } from '../../../../src/ingest/kafka/driver.ts';
import { ReadAgain } from '../../../../src/ingest/kafka/read-again.ts';
import type { KafkaRecord } from '../../../../src/ingest/record.ts';
import { range } from '../../../helpers/numbers.ts';
import { record, topic, topics } from '../parts.ts';
import { turnsUntil } from '../../../helpers/turns-until.ts';

const NOW = 100_000;
const LARGEST = 200;
const MAX_FANOUT_BYTES = 1_000;
const RANGE: LogRange = {
  partition: 2,
  log: 'id/1',
  leaderEpoch: 2,
  from: 7,
  until: 9,
  lastEpoch: 3,
  lastFrom: undefined,
};

interface Parts extends Partial<Topic> {
  readonly records?: readonly KafkaRecord[];
  readonly maxAgeSeconds?: number;
  readonly positions?: readonly PartitionPosition[];
}

/** Sets up the topic `bids`, in which there are these records. */
function setUp({ records = [], maxAgeSeconds = 0, positions = [], ...options }: Parts = {}) {
  const asked: (readonly RecordRange[])[] = [];
  const again = new ReadAgain({
    driver: {
      read: async (_topic, ranges, take) => {
        asked.push(ranges);
        await take(records);
      },
    },
    routing: { topics: topics(topic('bids', options)), prefix: '', maxAgeSeconds, now: () => NOW },
    maxRecordBytes: LARGEST,
    maxFanoutBytes: MAX_FANOUT_BYTES,
    topicsOf: (stream) => [stream],
    positions: (wanted) => positions.filter((one) => wanted === undefined || one.topic === wanted),
    published: (_topic, partition) => (partition === 2 ? { offset: 9, epoch: 1e10 + 4 } : undefined),
  });
  const passed: (readonly [channel: string, offset: number | undefined])[] = [];
  const passOn = (channel: string, payload: string): void =>
    void passed.push([channel, decodeMessage(payload)?.o]);
  const read = (
    wants: Reader['wants'] = () => true,
    ready: Reader['ready'] = async () => undefined,
    logRange = RANGE,
  ) => again.read('bids', [logRange], { wants, passOn, ready }, new AbortController().signal);
  return { again, asked, passed, read };
}

const bid = (offset: number, value: string, options: Partial<KafkaRecord> = {}): KafkaRecord =>
  record(value, { offset, epoch: 1e10 + 3, timestamp: NOW, ...options });

test('events are passed on to the channels that are wanted, as they were published', async () => {
  const { read, passed, asked } = setUp({
    keys: ['id'],
    records: [bid(7, '{"id":"a"}'), bid(8, '{"id":"b"}')],
  });
  await read((channel) => channel !== 'bids:id=b');
  assert.deepEqual(asked, [[{ partition: 2, topicId: 'id', resets: 1, leaderEpoch: 2, from: 7, until: 9 }]]);
  assert.deepEqual(passed, [
    ['bids', 7],
    ['bids:id=a', 7],
    ['bids', 8],
  ]);
});

test('nothing is passed on while its reader can take no more', async () => {
  const { read, passed } = setUp({ records: [bid(7, '{}'), bid(8, '{}')] });
  const waits: (() => void)[] = [];
  const reading = read(
    () => true,
    () => new Promise((resolve) => waits.push(resolve)),
  );
  for (const offset of [7, 8]) {
    await turnsUntil(() => waits.length > 0);
    assert.equal(passed.length, offset - 7);
    waits.pop()?.();
  }
  await reading;
  assert.equal(passed.length, 2);
});

test('what was no event is passed over', async () => {
  const wide = JSON.stringify({ a: 'x'.repeat(LARGEST - 20) });
  const records = [
    bid(7, 'no JSON'),
    record(null, { offset: 8, epoch: 3, timestamp: NOW }),
    bid(10, '{"__proto__":{}}'),
    bid(11, wide),
  ];
  const { read, passed } = setUp({ records });
  await read();
  assert.deepEqual(
    passed.map(([, offset]) => offset),
    [11],
  );
});

for (const [what, options, message] of [
  [
    'a record of a later leader epoch has come in place of what was published',
    { records: [bid(7, '{}', { epoch: 4 })] },
    'expected record 7 of leader epoch 3, got one of 4',
  ],
  [
    'a record may be too large for this process alone',
    { records: [bid(7, JSON.stringify({ a: 'x'.repeat(LARGEST) }))] },
    `expected a record of at most ${LARGEST} bytes, got ${LARGEST + 8}`,
  ],
  [
    'a decode may fail just now',
    { records: [bid(7, '{}')], decode: () => Promise.reject(new Error('no registry')) },
    "the graph's decode failed: no registry",
  ],
  [
    'an event of many channels was published where few of them had subscribers',
    { records: [bid(7, JSON.stringify({ id: range(0, 30) }))], keys: ['id'] },
    /^expected an event of at most 1000 bytes times channels, got \d+ on 31$/,
  ],
  [
    'a record that is too old by now may have been published',
    { records: [bid(7, '{}', { timestamp: NOW - 5_001 })], maxAgeSeconds: 5 },
    'expected events of the last 5 s, got an older one',
  ],
] as const) {
  test(what, async () => {
    const { read, passed } = setUp(options);
    await assert.rejects(read(), { message });
    assert.deepEqual(passed, []);
  });
}

test('where the last record is of another leader epoch, others may have come in place of what was published', async () => {
  const { read, passed } = setUp({ records: [bid(7, '{}', { epoch: 2 }), bid(8, '{}', { epoch: 2 })] });
  await assert.rejects(read(), { message: 'expected record 8 of leader epoch 3, got one of 2' });
  assert.equal(passed.length, 2);
});

test('a change of leader in between is none of its own', async () => {
  for (const lastFrom of [undefined, 8]) {
    const { read, passed } = setUp({ records: [bid(7, '{}', { epoch: 2 }), bid(8, '{}')] });
    await read(() => true, undefined, { ...RANGE, lastFrom });
    assert.equal(passed.length, 2);
  }
});

for (const [what, leaderEpoch, epochs, message] of [
  ['before the last leader epoch began', 2, [3, 3], 'expected record 7 of leader epoch 2, got one of 3'],
  ['since', 2, [2, 2, 3], 'expected record 8 of leader epoch 3, got one of 2'],
  ['in an epoch between the two', 1, [2, 3], 'expected record 7 of leader epoch 1, got one of 2'],
  [
    'where nothing had been read',
    undefined,
    [2, 3],
    'expected record 7 of leader epoch undefined, got one of 2',
  ],
] as const) {
  test(`a record that has come in place of one that was published ${what} is found, though the last one is the same`, async () => {
    const { read } = setUp({ records: epochs.map((epoch, index) => bid(7 + index, '{}', { epoch })) });
    await assert.rejects(
      read(() => true, undefined, { ...RANGE, leaderEpoch, lastFrom: 8 }),
      { message },
    );
  });
}

test('Kafka keys that may not have held what the schema says are not relied on', async () => {
  const records = range(0, 5).map((offset) => bid(offset, '{"id":"a"}', { key: Buffer.from('b') }));
  const { read, passed } = setUp({ keys: ['id'], kafkaKey: 'id', records });
  await read((channel) => channel === 'bids:id=a');
  assert.equal(passed.length, 5);
});

test('how far each partition is published includes what is in hand', () => {
  const at = { topic: 'bids', topicId: undefined, resets: 0, partitions: 4, leaderEpoch: 3 };
  const { again } = setUp({
    positions: [
      { ...at, partition: 2, position: 5, highWatermark: 20 },
      { ...at, partition: 3, position: 6, highWatermark: 20 },
      { ...at, topic: 'asks', partition: 0, position: 1, highWatermark: undefined },
    ],
  });
  const log = { log: '/0', leaderEpoch: 3, assignedAt: 5 };
  const consumed = [
    {
      topic: 'bids',
      count: 4,
      partitions: [
        { ...log, partition: 2, start: 5, next: 5, until: 10, lastEpoch: 4, lastFrom: undefined },
        { ...log, partition: 3, start: 6, next: 6, until: 6, lastEpoch: 3, lastFrom: undefined },
      ],
    },
    {
      topic: 'asks',
      count: 4,
      partitions: [{ ...log, partition: 0, start: 1, next: 1, until: 1, lastEpoch: 3, lastFrom: undefined }],
    },
  ];
  again.assigned(5);
  assert.deepEqual(again.topics(), consumed);
  assert.deepEqual(again.topics('asks'), consumed.slice(1));
});

test('a partition began where it stood when it was assigned', () => {
  const at = { topic: 'bids', topicId: undefined, resets: 0, partitions: 1, leaderEpoch: 3, partition: 0 };
  const positions: PartitionPosition[] = [];
  const { again } = setUp({ positions });
  const heldAt = (position: number): readonly (number | undefined)[] => {
    positions[0] = { ...at, position, highWatermark: undefined };
    const [held] = again.topics()[0]?.partitions ?? [];
    return [held?.assignedAt, held?.start];
  };
  heldAt(5);
  again.assigned(1_000);
  const before = heldAt(6);
  heldAt(8);
  again.assigned(2_000);
  assert.deepEqual(
    [before, heldAt(9)],
    [
      [1_000, 5],
      [2_000, 8],
    ],
  );
});

test('where the last leader epoch begins is known of records that have been handed over since the partition was assigned', () => {
  const at = { topic: 'bids', topicId: undefined, resets: 0, partitions: 4, leaderEpoch: 3 };
  const { again } = setUp({ positions: [{ ...at, partition: 3, position: 9, highWatermark: 20 }] });
  const hand = (...records: (readonly [offset: number, epoch?: number])[]) =>
    again.handed({
      topic: 'bids',
      partition: 3,
      records: records.map(([offset, epoch]) => bid(offset, '{}', { epoch })),
    });
  const lastFrom = () => again.topics()[0]?.partitions[0]?.lastFrom;
  again.assigned(5);
  hand([4, 2], [5, 3], [6, 3]);
  assert.equal(lastFrom(), 5);
  // Handed over once more, from another record on; without an epoch, as in old formats; and none.
  hand([6, 3], [7, 3]);
  hand([8]);
  hand();
  assert.equal(lastFrom(), 5);
  // What is in hand is not published yet.
  hand([9, 4]);
  assert.equal(lastFrom(), undefined);
  again.assigned(6);
  hand([9, 3]);
  assert.equal(lastFrom(), 9);
});
