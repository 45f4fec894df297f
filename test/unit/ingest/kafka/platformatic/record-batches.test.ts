import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeRecords } from '../../../../../src/ingest/kafka/platformatic/record-batches.ts';
import { encodedBatch, withChecksum } from './encoded-batch.ts';

const TOPIC = { topic: 't', topicId: 'id', partition: 0 };
const ORIGIN = { ...TOPIC, resets: 0 };
const TRANSACTIONAL = 0b1_0000;
const CONTROL = 0b10_0000;
const ABORT = Buffer.from([0, 0, 0, 0]);
const COMMIT = Buffer.from([0, 0, 0, 1]);

const of = (producerId: bigint, firstOffset: number, value: string) =>
  encodedBatch([value], { firstOffset, producerId, attributes: TRANSACTIONAL });
const end = (producerId: bigint, firstOffset: number, key: Buffer) =>
  encodedBatch([''], { firstOffset, producerId, key, attributes: TRANSACTIONAL | CONTROL });

type Aborted = Parameters<typeof decodeRecords>[2]['aborted'];

async function decode(batches: readonly Buffer[], from = 0, aborted: Aborted = []) {
  const decoded = await decodeRecords(ORIGIN, from, {
    errorCode: 0,
    records: Buffer.concat(batches),
    aborted,
  });
  return { ...decoded, values: decoded.records.map(({ offset, value }) => `${offset}:${String(value)}`) };
}

test('records have their offset, the leader epoch of their batch, time, key, value and headers, of which a name may come more than once', async () => {
  const headers = new Map([
    [Buffer.from('a'), Buffer.from('1')],
    [Buffer.from('a'), Buffer.from('2')],
    [Buffer.from('__proto__'), Buffer.from('3')],
  ]);
  const { records } = await decode([
    encodedBatch(['v'], { firstOffset: 7, partitionLeaderEpoch: 3, key: Buffer.from('k'), headers }),
  ]);
  const [record] = records;
  assert.deepEqual(
    { ...record, headers: { ...record?.headers } },
    {
      ...TOPIC,
      offset: 7,
      epoch: 3,
      timestamp: 1_000,
      key: Buffer.from('k'),
      value: Buffer.from('v'),
      headers: { a: [Buffer.from('1'), Buffer.from('2')], ['__proto__']: Buffer.from('3') },
    },
  );
});

test('records before the position, and a batch that is cut off, are left out', async () => {
  const last = encodedBatch(['d'], { firstOffset: 3 });
  const { values, next, bad } = await decode([encodedBatch(['a', 'b', 'c']), last.subarray(0, 20)], 1);
  assert.deepEqual([values, next, bad], [['1:b', '2:c'], 3, undefined]);
});

test('what has no whole batch at its beginning is bad, as is what the broker finds damaged; where it ends is not known', async () => {
  const whole = encodedBatch(['a', 'b'], { firstOffset: 5 });
  const [negative, none, long, short] = [-16, 0, 1 << 24, 2].map((length) => {
    const batch = Buffer.from(whole);
    batch.writeInt32BE(length, 8);
    return batch;
  });
  const before = encodedBatch(['a', 'b'], { firstOffset: 3 });
  for (const broken of [negative, none, long, whole.subarray(0, 20), before]) {
    const { values, next, bad } = await decode([broken ?? whole], 5);
    assert.deepEqual([values, next, bad?.firstOffset, bad?.lastOffset], [[], 5, 5, undefined]);
    assert.match(bad?.error.message ?? '', /^expected a record batch with the offset 5: got \d+ bytes/);
  }
  const { bad: tooShort } = await decode([short ?? whole], 5);
  assert.deepEqual([tooShort?.firstOffset, tooShort?.lastOffset], [5, 5]);
  const { bad } = await decodeRecords(ORIGIN, 5, { errorCode: 2, records: Buffer.alloc(0), aborted: [] });
  assert.match(
    bad?.error.message ?? '',
    /^expected a record batch with the offset 5: the broker can’t read it/,
  );
  assert.equal((await decode([], 5)).bad, undefined);
});

test('a batch with a wrong checksum, of an unknown codec, or with damaged records, is bad; what comes before it is not', async () => {
  const first = encodedBatch(['a', 'b']);
  const flipped = encodedBatch(['c', 'd'], { firstOffset: 2 });
  flipped[flipped.length - 3] = 0xff;
  const unknown = encodedBatch(['c', 'd'], { firstOffset: 2, attributes: 7 });
  const damaged = encodedBatch(['c', 'd'], { firstOffset: 2 });
  damaged[damaged.length - 1] = 0x7f;
  for (const [broken, reason] of [
    [flipped, /checksum/],
    [unknown, /codec .* number 7/],
    [withChecksum(damaged), /expected/],
  ] as const) {
    const { values, next, bad } = await decode([first, broken, encodedBatch(['e'], { firstOffset: 4 })]);
    assert.deepEqual([values, next, bad?.firstOffset, bad?.lastOffset], [['0:a', '1:b'], 2, 2, 3]);
    assert.match(String(bad?.error), reason);
  }
});

test('of transactions that overlap, and of several that one producer has aborted, only committed records come', async () => {
  const log = [
    of(1n, 0, 'aborted'),
    of(2n, 1, 'kept'),
    end(1n, 2, ABORT),
    of(1n, 3, 'aborted'),
    of(3n, 4, 'aborted'),
    end(2n, 5, COMMIT),
    end(1n, 6, ABORT),
    of(1n, 7, 'kept'),
    end(1n, 8, COMMIT),
    of(3n, 9, 'aborted, its marker is in another fetch'),
  ];
  const aborted = [
    { producerId: 3n, firstOffset: 4 },
    { producerId: 1n, firstOffset: 3 },
    { producerId: 1n, firstOffset: 0 },
  ];
  const { values, next } = await decode(log, 0, aborted);
  assert.deepEqual([values, next], [['1:kept', '7:kept'], 10]);
});

test("a topic whose times are the broker's has that of the batch for all its records", async () => {
  const { records } = await decode([encodedBatch(['a', 'b'], { attributes: 0b1000 })]);
  const times = records.map(({ timestamp }) => timestamp);
  assert.deepEqual(times, [1_000, 1_000]);
});

test('a record with 300,000 headers of one name is decoded', async () => {
  const count = 300_000;
  const headers = new Map(Array.from({ length: count }, () => [Buffer.from('a'), Buffer.alloc(0)]));
  const { records } = await decode([encodedBatch(['v'], { headers })]);
  const { a } = records[0]?.headers ?? {};
  // With a copy for each of them it would take some ten minutes.
  assert.equal(Array.isArray(a) ? a.length : 0, count);
});
