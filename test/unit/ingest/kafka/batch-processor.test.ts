import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { hashOfKey } from '../../../../src/events/deletion.ts';
import { decodeMessage } from '../../../../src/events/message.ts';
import type { Publication } from '../../../../src/events/publisher.ts';
import type { Schemas } from '../../../../src/ingest/schemas/codec.ts';
import { SchemaUnavailable } from '../../../../src/ingest/schemas/schema-unavailable.ts';
import { deferred } from '../../../helpers/deferred.ts';
import { range } from '../../../helpers/numbers.ts';
import { roomForRecords } from '../../../helpers/source-settings.ts';
import { events, FakeBatch, setUp } from './batch-parts.ts';
import { record as kafkaRecord } from '../parts.ts';
import { turnsUntil } from '../../../helpers/turns-until.ts';

/** Resolves when the partition of the batch is no longer paused. */
async function resumed(batch: FakeBatch): Promise<void> {
  await turnsUntil(() => batch.resumes >= batch.pauses);
}

/** What a publisher does that takes all, while this happens. */
const taking = (happen: () => unknown) => (): readonly Publication[] => {
  happen();
  return [];
};

/** Messages of the log, from this level on. */
const said = (lines: readonly Record<string, unknown>[], from: number): unknown[] =>
  lines.filter(({ level }) => Number(level) >= from).map(({ msg }) => msg);

/** One batch of the other partition. */
const otherBatch = (values: string[]) => Object.assign(new FakeBatch(values), { partition: 1 });

test('a batch is published in chunks, in order, each committed after the bus has taken it', async () => {
  const { consume, offsets, publisher, metrics } = setUp();
  const { committed } = await consume(events(1_200));
  assert.deepEqual(offsets(), range(0, 1_200));
  assert.deepEqual([publisher.attempts, committed], [3, [500, 1000, 1200]]);
  assert.equal((await metrics.events.get()).values[0]?.value, 1_200);
});

test('while the bus takes no events, the consumer commits nothing and its waits grow; then it goes on', async () => {
  const { consume, offsets, publisher, clock } = setUp();
  const batch = new FakeBatch(events(3));
  publisher.failing = (publications) => {
    assert.deepEqual(batch.committed, []);
    return publisher.attempts < 7 ? publications : [];
  };
  await consume(batch);
  assert.deepEqual(clock.waits, [50, 100, 200, 400, 800, 1_600]);
  assert.ok(batch.beats >= 6, `expected a heartbeat after each wait, got ${batch.beats}`);
  assert.deepEqual([offsets(), batch.committed, batch.pauses], [[0, 1, 2], [3], 0]);
});

/** Sets up two partitions, with events for a channel each. The bus does not take those of the first. */
function withoutFirst(t: TestContext) {
  const parts = setUp({ keys: ['id'] });
  t.after(() => parts.aborting.abort());
  const { publisher, consume } = parts;
  const away = { isAway: true };
  const isOfFirst = (channel: string): boolean => away.isAway && channel.endsWith('=first');
  publisher.failing = (batch) => batch.filter(({ channel }) => isOfFirst(channel));
  publisher.subscribed = async (_topic, channels) => {
    if (channels.some(isOfFirst) && publisher.attempts >= 7) throw new Error('the bus is away');
    return new Set(channels);
  };
  const consumeFirst = () => consume(['{"id":"first"}']);
  const consumeOther = () => consume(otherBatch(['{"id":"other"}']));
  return { ...parts, away, consumeFirst, consumeOther };
}

test('a partition whose events the bus does not take is given back and waits until the bus answers, and no other', async (t) => {
  const { processor, publisher, lines, away, consumeFirst, consumeOther } = withoutFirst(t);
  const first = await consumeFirst();
  assert.deepEqual([first.committed, first.pauses, first.resumes], [[], 1, 0]);
  assert.match(processor.held('bids', 0)?.reason ?? '', /the bus acknowledged 0 of 1 publications/);
  const other = await consumeOther();
  assert.deepEqual([other.committed, processor.held('bids', 1)], [[1], undefined]);
  assert.equal(first.resumes, 0);
  away.isAway = false;
  await resumed(first);
  assert.equal(processor.held('bids', 0), undefined);
  const again = await consumeFirst();
  assert.deepEqual([again.committed, publisher.attempts], [[1], 9]);
  const expected = ['events were not taken; their partition waits until they are', 'events are taken again'];
  assert.deepEqual(said(lines, 30), expected);
});

test('a bus that does not answer holds up the member for a moment only, and its answer counts', async () => {
  const { consume, publisher, processor } = setUp();
  let answer!: () => void;
  publisher.publish = () => {
    publisher.attempts += 1;
    return new Promise<void>((resolve) => (answer = resolve));
  };
  const batch = await consume(['{"n":1}']);
  assert.deepEqual([batch.pauses, batch.committed, processor.published('bids', 0)?.offset], [1, [], 0]);
  answer();
  await resumed(batch);
  const again = await consume(['{"n":1}']);
  assert.deepEqual([publisher.attempts, again.committed], [1, [1]]);
});

/** One event, of a leader epoch. */
function ofEpoch(epoch: number): FakeBatch {
  const batch = new FakeBatch(events(1));
  return Object.assign(batch, { records: batch.records.map((record) => ({ ...record, epoch })) });
}

test('what is delivered meanwhile does not count for a record that has got its offset', async () => {
  const { consume, publisher } = setUp();
  let answer!: () => void;
  publisher.publish = () => {
    publisher.attempts += 1;
    return publisher.attempts > 1 ? Promise.resolve() : new Promise<void>((resolve) => (answer = resolve));
  };
  const batch = await consume(ofEpoch(1));
  answer();
  await resumed(batch);
  const other = await consume(ofEpoch(2));
  assert.deepEqual([publisher.attempts, other.committed], [2, [1]]);
});

test('bytes of a chunk are given back once its last attempt has ended', async () => {
  const records = roomForRecords();
  const { consume, publisher } = setUp({ records });
  let end!: (error: Error) => void;
  publisher.publish = () => new Promise<void>((_, reject) => (end = reject));
  const batch = await consume(['{"n":1}']);
  assert.notEqual(records.held, 0);
  end(new Error('the bus is away'));
  await resumed(batch);
  assert.equal(records.held, 0);
});

test('a second attempt publishes what was not acknowledged, in order, and nothing else', async () => {
  const { consume, offsets, publisher } = setUp({ keys: ['ids'] });
  publisher.failing = (publications) =>
    publisher.attempts === 1 ? publications.filter((_, index) => [1, 4, 5].includes(index)) : [];
  // Three channels an event: the topic and two ids.
  const { committed } = await consume([0, 1, 2].map((n) => `{"ids":["a${n}","b${n}"]}`));
  assert.deepEqual([offsets(), committed], [[0, 0, 1, 2, 2, 2, 0, 1, 1], [3]]);
});

test('each stream of a topic gets its events, and a second attempt publishes to those that have not taken all', async () => {
  const streams = [{ name: 'bids' }, { name: 'asks,bids' }, { name: '~^b' }];
  const { consume, publisher } = setUp({ keys: ['id'], streams });
  publisher.wants = (channel) => !channel.startsWith('~') || channel.includes(':');
  publisher.failing = (publications) => (publisher.attempts === 2 ? publications.slice(1) : []);
  const { committed } = await consume(['{"id":1}', '{"id":2}']);
  assert.deepEqual(publisher.streams, ['bids', 'asks,bids', 'asks,bids', '~^b']);
  assert.deepEqual(committed, [2]);
  assert.deepEqual(
    publisher.published.map(({ channel, payload, source }) => {
      const { m, t, o } = decodeMessage(payload) ?? {};
      return [channel, m, t, o, source?.partition];
    }),
    [
      ['bids', undefined, 'bids', 0, 0],
      ['bids:id=1', undefined, 'bids', 0, 0],
      ['bids', undefined, 'bids', 1, 0],
      ['bids:id=2', undefined, 'bids', 1, 0],
      ['asks,bids', 1, 'bids', 0, 'bids/0'],
      ['asks,bids:id=1', 1, 'bids', 0, 'bids/0'],
      ['asks,bids', 1, 'bids', 1, 'bids/0'],
      ['asks,bids:id=2', 1, 'bids', 1, 'bids/0'],
      ['~^b:id=1', 1, 'bids', 0, 'bids/0'],
      ['~^b:id=2', 1, 'bids', 1, 'bids/0'],
    ],
  );
});

test('a tombstone deletes its key in each stream that keeps something, as a key of its topic', async () => {
  const history = { size: 9, ttlMs: 9_000, keepsAll: true };
  const streams = [{ name: 'bids', history }, { name: 'asks,bids', history }, { name: '~^b' }];
  const { consume, publisher } = setUp({ streams });
  const tombstone = kafkaRecord(null, { partition: 0, offset: 0, key: Buffer.from('k') });
  await consume(Object.assign(new FakeBatch([]), { records: [tombstone] }));
  assert.deepEqual(publisher.streams, ['bids', 'asks,bids']);
  assert.deepEqual(
    publisher.published.map(({ deletes }) => deletes),
    [hashOfKey('k'), hashOfKey('bids/k')],
  );
});

for (const [what, happen] of [
  ['the consumer stops', (batch: FakeBatch) => void (batch.running = false)],
  ['a stop is asked for', (_batch: FakeBatch, { aborting }: ReturnType<typeof setUp>) => aborting.abort()],
  ['the group was joined anew', (batch: FakeBatch) => void (batch.assigned = false)],
] as const) {
  test(`when ${what} while the bus is away, the batch is left uncommitted`, async () => {
    const parts = setUp();
    const batch = new FakeBatch(events(3));
    parts.publisher.failing = (publications) => {
      happen(batch, parts);
      return publications.slice(1);
    };
    await parts.consume(batch);
    assert.deepEqual([parts.publisher.attempts, batch.committed], [1, []]);
  });

  test(`when ${what} while nothing is to be consumed, the batch is left uncommitted`, async () => {
    const parts = setUp();
    parts.hold.reason = 'under pressure';
    const batch = new FakeBatch(events(3));
    batch.onHeartbeat = () => {
      if (parts.processor.held('bids', 0) !== undefined) happen(batch, parts);
    };
    await parts.consume(batch);
    assert.deepEqual([parts.publisher.attempts, batch.committed], [0, []]);
  });
}

for (const [what, happen, committed] of [
  [
    'during a stop the consumer commits a chunk that was published, and begins no further one',
    (batch: FakeBatch) => (batch.running = false),
    [500],
  ],
  [
    'the consumer does not commit a published chunk once it has joined its group anew',
    (batch: FakeBatch) => (batch.assigned = false),
    [],
  ],
] as const) {
  test(what, async () => {
    const { consume, publisher } = setUp();
    const batch = new FakeBatch(events(600));
    publisher.failing = taking(() => happen(batch));
    await consume(batch);
    assert.deepEqual([publisher.published.length, batch.committed], [500, committed]);
  });
}

test('for a batch that is taken away while it waits no further heartbeat is sent, and nothing published', async () => {
  const { consume, publisher } = setUp();
  const batch = new FakeBatch(events(1));
  publisher.failing = (publications) => {
    batch.assigned = false;
    batch.beats = 0;
    return publications;
  };
  await consume(batch);
  assert.deepEqual([publisher.attempts, batch.beats, batch.committed], [1, 0, []]);
});

test('an error of a heartbeat reaches the driver, which joins the group again', async () => {
  const { consume, publisher } = setUp();
  const batch = new FakeBatch(events(600));
  const rebalance = new Error('the group is rebalancing');
  batch.onHeartbeat = () => {
    if (publisher.attempts === 1) throw rebalance;
  };
  await assert.rejects(consume(batch), rebalance);
  assert.deepEqual(batch.committed, [500]);
});

test('while a chunk is delivered heartbeats go on, also after one that fails, and end with the batch', async () => {
  const { consume, clock, publisher } = setUp();
  const batch = new FakeBatch(events(1));
  const sleep = clock.sleep;
  let due!: () => void;
  clock.sleep = (ms, signal) => {
    if (ms !== 1_000) return sleep(ms, signal);
    return new Promise((resolve) => {
      due = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  };
  let deliver!: () => void;
  publisher.publish = () => new Promise((resolve) => (deliver = resolve));
  const consuming = consume(batch);
  const beats: number[] = [];
  batch.onHeartbeat = () => {
    if (beats.length === 1) throw new Error('Kafka is away');
  };
  for (const _ of range(0, 3)) {
    await setImmediate();
    beats.push(batch.beats);
    due();
  }
  await setImmediate();
  beats.push(batch.beats);
  deliver();
  await consuming;
  due();
  await setImmediate();
  const [first = NaN] = beats;
  assert.deepEqual([...beats, batch.beats], [first, first + 1, first + 2, first + 3, first + 3]);
});

test('a batch is committed only when its dead letters are acknowledged too, and its events are published once', async () => {
  const { consume, offsets, sink, buried, metrics } = setUp();
  const values = ['{"n":0}', 'not json', '{"n":2}'];
  sink.failing = true;
  const batch = await consume(values);
  assert.deepEqual([batch.pauses, batch.committed, buried], [1, [], []]);
  sink.failing = false;
  await resumed(batch);
  // Its driver hands it over again, with what has come meanwhile.
  const again = await consume([...values, '{"n":3}']);
  assert.deepEqual([offsets(), buried.length, again.committed], [[0, 2, 3], 1, [3, 4]]);
  assert.equal((await metrics.deadLetters.get()).values[0]?.value, 1);
});

test('while the dead-letter topic is away the partitions wait that have a letter for it, and no other', async () => {
  const { consume, offsets, processor, sink, lines } = setUp();
  sink.failing = true;
  await consume(['not json']);
  assert.match(processor.held('bids', 0)?.reason ?? '', /the dead-letter topic takes nothing: Kafka is away/);
  const expected = ['could not decode a message', 'a partition waits for the dead-letter topic'];
  assert.deepEqual(said(lines, 40), expected);
  const other = await consume(otherBatch(events(2)));
  assert.deepEqual([other.committed, offsets(), processor.held('bids', 1)], [[2], [0, 1], undefined]);
});

test('a batch that was fetched before its partition had to wait is given back', async () => {
  const { consume, publisher, sink } = setUp();
  sink.failing = true;
  await consume(['not json']);
  const next = await consume(['not json', '{"n":1}']);
  assert.deepEqual([next.pauses, next.committed, publisher.attempts], [1, [], 0]);
  sink.failing = false;
  await resumed(next);
});

test('a dead-letter topic that does not answer holds up the member for a moment only, and its answer counts', async () => {
  const { consume, sink } = setUp();
  let answer!: () => void;
  const asked: number[] = [];
  sink.send = (messages) => {
    asked.push(messages.length);
    return new Promise<void>((resolve) => (answer = resolve));
  };
  const batch = await consume(['not json']);
  assert.deepEqual([batch.pauses, batch.committed], [1, []]);
  answer();
  await resumed(batch);
  const again = await consume(['not json']);
  assert.deepEqual([asked, again.committed], [[1], [1]]);
});

test('after a join the letters of a partition are those of the member that has it', async () => {
  const { consume, processor, sink, buried } = setUp();
  sink.failing = true;
  const batch = await consume(['not json']);
  processor.clear();
  await resumed(batch);
  sink.failing = false;
  const again = await consume(['not json']);
  assert.deepEqual([again.committed, buried.length], [[1], 1]);
});

test('the time of each publish that the bus has acknowledged is measured', async () => {
  const { consume, publisher, metrics } = setUp();
  const measured = async () => {
    const { values } = await metrics.publishDuration.get();
    return values.find(({ metricName }) => metricName?.endsWith('_count'))?.value;
  };
  assert.equal(await measured(), 0);
  publisher.failing = (batch) => (publisher.attempts === 1 ? batch : []);
  await consume(events(600));
  assert.deepEqual([publisher.attempts, await measured()], [3, 2]);
});

test('while nothing is to be consumed a batch waits at its next chunk, keeps its membership and is not lost', async () => {
  const { consume, offsets, processor, publisher, hold } = setUp();
  const batch = new FakeBatch(events(1_200));
  let heldBeats = 0;
  publisher.failing = taking(() => (hold.reason = 'under pressure'));
  batch.onHeartbeat = () => {
    if (hold.reason === undefined || processor.held('bids', 0) === undefined) return;
    assert.deepEqual(processor.held('bids', 0), { topic: 'bids', partition: 0, reason: 'under pressure' });
    assert.equal(batch.committed.at(-1), publisher.attempts * 500);
    heldBeats += 1;
    if (heldBeats % 3 === 0) hold.reason = undefined;
  };
  await consume(batch);
  assert.deepEqual(offsets(), range(0, 1_200));
  assert.deepEqual([heldBeats, batch.committed], [6, [500, 1000, 1200]]);
  assert.equal(processor.held('bids', 0), undefined);
});

/** Events under so many values of a key, as many bytes each. */
const wide = (count: number, keys: number, bytes: number) =>
  range(0, count).map((n) =>
    JSON.stringify({ ids: range(0, keys).map((key) => `k${key}`), text: String(n).padEnd(bytes, 'x') }),
  );

test('a chunk ends with the bytes of its events times their channels', async () => {
  const { consume, publisher } = setUp({ keys: ['ids'] });
  const { committed } = await consume(wide(20, 99, 20_000));
  // 100 channels of 2 MB each time two events and a bit come together.
  assert.deepEqual(committed, [3, 6, 9, 12, 15, 18, 20]);
  assert.equal(publisher.published.length, 20 * 100);
});

test('an event whose bytes times channels are past the bound is a dead letter, and the others are published', async () => {
  const parts = setUp({ keys: ['ids'], maxFanoutBytes: 70_000 });
  const { consume, offsets, publisher, buriedAs, lines, metrics } = parts;
  publisher.wants = (channel) => channel.includes(':ids=');
  const values = [wide(1, 9, 5_000), wide(1, 10, 7_200), wide(1, 1, 60_000)].flat();
  const { committed } = await consume(values);
  assert.deepEqual([new Set(offsets()), buriedAs(), committed], [new Set([0, 2]), [['1', 'too_wide']], [3]]);
  assert.match(JSON.stringify(lines), /at most 70000 bytes times channels, got \d+ on 10/);
  assert.equal((await metrics.deadLetters.get()).values[0]?.labels.reason, 'too_wide');
});

test('channels that nobody listens to do not count', async () => {
  const { consume, publisher, buried } = setUp({ keys: ['ids'], maxFanoutBytes: 70_000 });
  publisher.wants = (channel) => channel.endsWith('k1') || channel.endsWith('k2');
  await consume(wide(1, 200, 20_000));
  assert.deepEqual([publisher.published.length, buried], [2, []]);
});

test('a record that takes more than a consumer may hold is a dead letter, is not decoded, and stops none behind it', async () => {
  const records = roomForRecords(80_000);
  const { consume, offsets, buriedAs } = setUp({ records });
  const { committed } = await consume(['x'.repeat(10_001), ...events(1)]);
  // Decoded, it would be no JSON.
  assert.deepEqual([offsets(), buriedAs(), committed], [[1], [['0', 'too_large']], [2]]);
  assert.equal(records.held, 0);
});

test('records are decoded as far as bytes can be reserved for their whole way', async () => {
  const records = roomForRecords(80_000);
  const { consume, offsets, publisher } = setUp({ records });
  const held: number[] = [];
  publisher.failing = taking(() => held.push(records.held));
  const { committed } = await consume(wide(7, 0, 4_000));
  assert.deepEqual([committed, offsets()], [[2, 4, 6, 7], range(0, 7)]);
  for (const bytes of held) assert.ok(bytes > 4_000 && bytes <= 80_000, `${bytes}`);
  assert.equal(records.held, 0);
});

test('a consumer that waits for bytes decodes nothing, and goes on when they are given back', async () => {
  const records = roomForRecords(1_000);
  const other = records.tryReserve(1_000, {});
  const { consume, publisher, aborting } = setUp({ records });
  const consuming = consume(events(3));
  await setImmediate();
  assert.deepEqual([records.waiting, publisher.asked.length], [1, 0]);
  other?.release();
  assert.deepEqual((await consuming).committed, [3]);

  const again = records.tryReserve(1_000, {});
  const stopped = consume(events(3));
  aborting.abort();
  await stopped;
  assert.deepEqual([records.waiting, publisher.published.length], [0, 3]);
  again?.release();
});

test('a batch that takes long is left behind a chunk, so that other partitions get their turn', async () => {
  const { consume, clock, publisher } = setUp();
  let now = 0;
  clock.now = () => now;
  publisher.failing = taking(() => (now += 60));
  const { committed } = await consume(events(2_000));
  assert.deepEqual(committed, [500, 1_000]);
});

test('a batch of large events is left earlier, since Redis and other pods are busy with them as well', async () => {
  const { consume, clock, publisher } = setUp();
  let now = 0;
  clock.now = () => now;
  publisher.failing = taking(() => (now += 15));
  const text = 'x'.repeat(1_000_000);
  const { committed } = await consume(range(0, 20).map((n) => JSON.stringify({ n, text })));
  assert.deepEqual(committed, [5, 10]);
});

test('while a chunk is delivered, and while its partition waits for the dead-letter topic, all of it may have been published', async () => {
  const { processor, consume, publisher, sink } = setUp();
  const published = (partition: number) => processor.published('bids', partition)?.offset;
  const seen: (number | undefined)[] = [];
  publisher.failing = taking(() => seen.push(published(0), published(1)));
  await consume(events(700));
  assert.deepEqual([...seen, published(0)], [499, undefined, 699, undefined, undefined]);
  sink.failing = true;
  await consume(['{"n":1}', 'not json']);
  assert.equal(published(0), 1);
});

/** A registry that is away until `answer` is called. */
function awayRegistry() {
  const over = deferred();
  let isAway = true;
  const schema = JSON.stringify({ type: 'record', name: 'R', fields: [{ name: 'n', type: 'int' }] });
  const schemas: Schemas = {
    schema: async () => {
      if (isAway) throw new SchemaUnavailable('the registry is away', over.promise);
      return { type: 'AVRO', text: schema, references: [] };
    },
  };
  const answer = (): void => {
    isAway = false;
    over.resolve();
  };
  return { schemas, answer };
}

/** The id of a schema, and a number below 64. */
const avro = (number: number): string => `\0\0\0\0\u0005${String.fromCharCode(number * 2)}`;

const avroBatch = () => new FakeBatch([avro(1), avro(2), avro(3)], ['1', '2', '3']);

for (const [what, keyFrom] of [
  ['decoded', undefined],
  ['routed by their Kafka keys', 'n'],
] as const) {
  test(`a partition whose schemas the registry does not give waits until it does, and no other: records are ${what}`, async () => {
    const { schemas, answer } = awayRegistry();
    const routing = keyFrom === undefined ? {} : { keys: [keyFrom], kafkaKey: keyFrom };
    const { consume, processor, offsets, buriedAs } = setUp({ format: 'AVRO', schemas, ...routing });
    const first = await consume(avroBatch());
    assert.deepEqual([first.committed, first.pauses, first.resumes], [[], 1, 0]);
    assert.equal(processor.held('bids', 0)?.reason, 'the registry is away');
    const other = await consume(otherBatch(['{}']));
    // It names no schema, and is no event.
    assert.deepEqual([other.committed, other.pauses], [[1], 0]);
    answer();
    await resumed(first);
    const again = await consume(avroBatch());
    assert.deepEqual(again.committed, [3]);
    assert.deepEqual(new Set(offsets()), new Set([0, 1, 2]));
    assert.deepEqual(buriedAs(), [['0', 'malformed']]);
  });
}
