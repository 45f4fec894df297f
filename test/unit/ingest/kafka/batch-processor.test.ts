import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { range } from '../../../helpers/numbers.ts';
import { roomForRecords } from '../../../helpers/source-settings.ts';
import { events, FakeBatch, offsetsOf, setUp } from './batch-parts.ts';

test('a batch is published in chunks, in order, each committed after the bus has taken it', async () => {
  const { processor, publisher, metrics } = setUp();
  const batch = new FakeBatch(events(1_200));
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), range(0, 1_200));
  assert.equal(publisher.attempts, 3);
  assert.deepEqual(batch.committed, [500, 1000, 1200]);
  assert.equal((await metrics.events.get()).values[0]?.value, 1_200);
});

test('while the bus takes no events, the consumer commits nothing and its waits grow; then it goes on', async () => {
  const { processor, publisher, clock } = setUp();
  const batch = new FakeBatch(events(3));
  publisher.failing = (publications) => {
    assert.deepEqual(batch.committed, []);
    return publisher.attempts < 10 ? publications : [];
  };
  await processor.process(batch);
  assert.deepEqual(clock.waits, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
  assert.ok(batch.beats >= 9, `expected a heartbeat after each wait, got ${batch.beats}`);
  assert.deepEqual(offsetsOf(publisher), [0, 1, 2]);
  assert.deepEqual(batch.committed, [3]);
});

test('a second attempt publishes what was not acknowledged, in order, and nothing else', async () => {
  const { processor, publisher } = setUp(['ids']);
  // Three channels an event: the topic and two ids.
  const values = [0, 1, 2].map((n) => `{"ids":["a${n}","b${n}"]}`);
  publisher.failing = (publications) =>
    publisher.attempts === 1 ? publications.filter((_, index) => [1, 4, 5].includes(index)) : [];
  const batch = new FakeBatch(values);
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), [0, 0, 1, 2, 2, 2, 0, 1, 1]);
  assert.deepEqual(batch.committed, [3]);
});

test('each attempt leaves out what any attempt before it has published', async () => {
  const { processor, publisher } = setUp();
  publisher.failing = (publications) => publications.slice(0, -1);
  await processor.process(new FakeBatch(events(4)));
  assert.deepEqual(offsetsOf(publisher), [3, 2, 1, 0]);
});

test('when a publisher throws any other error, no event counts as taken', async () => {
  const { processor, publisher } = setUp();
  publisher.failing = () => {
    if (publisher.attempts === 1) throw new TypeError('a fault');
    return [];
  };
  const batch = new FakeBatch(events(2));
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), [0, 1]);
  assert.deepEqual(batch.committed, [2]);
});

for (const [what, happen] of [
  ['the consumer stops', (batch: FakeBatch) => void (batch.running = false)],
  ['a stop is asked for', (_batch: FakeBatch, { stopping }: ReturnType<typeof setUp>) => stopping.abort()],
  ['the group was joined anew', (batch: FakeBatch) => void (batch.assigned = false)],
] as const) {
  test(`when ${what} while the bus is away, the batch is left uncommitted`, async () => {
    const parts = setUp();
    const batch = new FakeBatch(events(3));
    parts.publisher.failing = (publications) => {
      happen(batch, parts);
      return publications.slice(1);
    };
    await parts.processor.process(batch);
    assert.deepEqual([parts.publisher.attempts, batch.committed], [1, []]);
  });

  test(`when ${what} while nothing is to be consumed, the batch is left uncommitted`, async () => {
    const parts = setUp();
    parts.hold.reason = 'under pressure';
    const batch = new FakeBatch(events(3));
    batch.onHeartbeat = () => {
      if (parts.processor.held !== undefined) happen(batch, parts);
    };
    await parts.processor.process(batch);
    assert.deepEqual([parts.publisher.attempts, batch.committed], [0, []]);
  });
}

test('during a stop the consumer commits a chunk that was published, and begins no further one', async () => {
  const { processor, publisher } = setUp();
  const batch = new FakeBatch(events(600));
  publisher.failing = () => {
    batch.running = false;
    return [];
  };
  await processor.process(batch);
  assert.equal(publisher.attempts, 1);
  assert.deepEqual(batch.committed, [500]);
});

test('the consumer does not commit a published chunk once it has joined its group anew', async () => {
  const { processor, publisher } = setUp();
  const batch = new FakeBatch(events(1));
  publisher.failing = () => {
    batch.assigned = false;
    return [];
  };
  await processor.process(batch);
  assert.equal(publisher.published.length, 1);
  assert.deepEqual(batch.committed, []);
});

test('an error of a heartbeat reaches the driver, which joins the group again', async () => {
  const { processor, publisher } = setUp();
  const batch = new FakeBatch(events(600));
  const rebalance = new Error('the group is rebalancing');
  batch.onHeartbeat = () => {
    if (publisher.attempts === 1) throw rebalance;
  };
  await assert.rejects(processor.process(batch), rebalance);
  assert.deepEqual(batch.committed, [500]);
});

/** Resolves when the partition of the batch is no longer paused. */
async function resumed(batch: FakeBatch): Promise<void> {
  while (batch.resumes < batch.pauses) await setImmediate();
}

test('a batch is committed only when its dead letters are acknowledged too, and its events are published once', async () => {
  const { processor, publisher, sink, buried, metrics } = setUp();
  const values = ['{"n":0}', 'not json', '{"n":2}'];
  const batch = new FakeBatch(values);
  sink.failing = true;
  await processor.process(batch);
  assert.deepEqual([batch.pauses, batch.committed, buried], [1, [], []]);
  sink.failing = false;
  await resumed(batch);
  // Its driver hands it over again, with what has come meanwhile.
  const again = new FakeBatch([...values, '{"n":3}']);
  await processor.process(again);
  assert.deepEqual(offsetsOf(publisher), [0, 2, 3]);
  assert.equal(buried.length, 1);
  assert.deepEqual(again.committed, [3, 4]);
  assert.equal((await metrics.deadLetters.get()).values[0]?.value, 1);
});

test('while the dead-letter topic is away the partitions wait that have a letter for it, and no other', async () => {
  const { processor, letters, publisher, sink, lines } = setUp();
  sink.failing = true;
  await processor.process(new FakeBatch(['not json']));
  assert.match(letters.held('bids', 0)?.reason ?? '', /the dead-letter topic takes nothing: Kafka is away/);
  assert.deepEqual(
    lines.filter(({ level }) => level === 40).map(({ msg }) => msg),
    ['could not decode a message', 'a partition waits for the dead-letter topic'],
  );
  const other = Object.assign(new FakeBatch(events(2)), { partition: 1 });
  await processor.process(other);
  assert.deepEqual([other.committed, offsetsOf(publisher)], [[2], [0, 1]]);
  assert.equal(letters.held('bids', 1), undefined);
});

test('a batch that was fetched before its partition had to wait is given back', async () => {
  const { processor, publisher, sink } = setUp();
  sink.failing = true;
  await processor.process(new FakeBatch(['not json']));
  const next = new FakeBatch(['not json', '{"n":1}']);
  await processor.process(next);
  assert.deepEqual([next.pauses, next.committed, publisher.attempts], [1, [], 0]);
  sink.failing = false;
  await resumed(next);
});

test('a dead-letter topic that does not answer holds up the member for a moment only, and its answer counts', async () => {
  const { processor, sink, buried } = setUp();
  let answer!: () => void;
  const asked: number[] = [];
  sink.send = (messages) => {
    asked.push(messages.length);
    return new Promise<void>((resolve) => (answer = resolve));
  };
  const batch = new FakeBatch(['not json']);
  await processor.process(batch);
  assert.deepEqual([batch.pauses, batch.committed, buried], [1, [], []]);
  answer();
  await resumed(batch);
  assert.deepEqual(asked, [1]);
  const again = new FakeBatch(['not json']);
  await processor.process(again);
  assert.deepEqual(again.committed, [1]);
});

test('after a join the letters of a partition are those of the member that has it', async () => {
  const { processor, letters, sink, buried } = setUp();
  sink.failing = true;
  const batch = new FakeBatch(['not json']);
  await processor.process(batch);
  letters.clear();
  await resumed(batch);
  sink.failing = false;
  const again = new FakeBatch(['not json']);
  await processor.process(again);
  assert.deepEqual([again.committed, buried.length], [[1], 1]);
});

test('a batch of poison messages only is committed', async () => {
  const { processor, publisher, buried } = setUp();
  const batch = new FakeBatch(['', 'x', '[]']);
  await processor.process(batch);
  assert.deepEqual([publisher.attempts, buried.length, batch.committed], [0, 3, [3]]);
});

test('the time of each publish that the bus has acknowledged is measured', async () => {
  const { processor, publisher, metrics } = setUp();
  const measured = async () =>
    (await metrics.publishDuration.get()).values.find(({ metricName }) => metricName?.endsWith('_count'))
      ?.value;
  assert.equal(await measured(), 0);
  publisher.failing = (batch) => (publisher.attempts === 1 ? batch : []);
  await processor.process(new FakeBatch(events(600)));
  assert.equal(publisher.attempts, 3);
  assert.equal(await measured(), 2);
});

test('while nothing is to be consumed a batch waits at its next chunk, keeps its membership and is not lost', async () => {
  const { processor, publisher, hold } = setUp();
  const batch = new FakeBatch(events(1_200));
  let heldBeats = 0;
  publisher.failing = () => {
    hold.reason = 'under pressure';
    return [];
  };
  batch.onHeartbeat = () => {
    if (hold.reason === undefined || processor.held === undefined) return;
    assert.deepEqual(processor.held, { topic: 'bids', partition: 0, reason: 'under pressure' });
    assert.equal(batch.committed.at(-1), publisher.attempts * 500);
    heldBeats += 1;
    if (heldBeats % 3 === 0) hold.reason = undefined;
  };
  await processor.process(batch);
  assert.equal(heldBeats, 6);
  assert.deepEqual(offsetsOf(publisher), range(0, 1_200));
  assert.deepEqual(batch.committed, [500, 1000, 1200]);
  assert.equal(processor.held, undefined);
});

/** Events under so many values of a key, as many bytes each. */
const wide = (count: number, keys: number, bytes: number) =>
  range(0, count).map((n) =>
    JSON.stringify({ ids: range(0, keys).map((key) => `k${key}`), text: String(n).padEnd(bytes, 'x') }),
  );

test('a chunk ends with the bytes of its events times their channels', async () => {
  const { processor, publisher } = setUp(['ids']);
  const batch = new FakeBatch(wide(20, 99, 40_000));
  await processor.process(batch);
  // 100 channels of 4 MB each time two events and a bit come together.
  assert.deepEqual(batch.committed, [3, 6, 9, 12, 15, 18, 20]);
  assert.equal(publisher.published.length, 20 * 100);
});

test('an event whose bytes times channels are past the bound is a dead letter, and the others are published', async () => {
  const { processor, publisher, buried, lines, metrics } = setUp(['ids'], {}, 'stop', {
    maxFanoutBytes: 70_000,
  });
  publisher.wants = (channel) => channel.includes(':ids=');
  const values = [wide(1, 9, 5_000), wide(1, 10, 7_200), wide(1, 1, 60_000)].flat();
  const batch = new FakeBatch(values);
  await processor.process(batch);
  assert.deepEqual(new Set(offsetsOf(publisher)), new Set([0, 2]));
  assert.deepEqual(
    buried.map(({ headers }) => [headers['sluice-offset'], headers['sluice-reason']]),
    [['1', 'too_wide']],
  );
  assert.match(JSON.stringify(lines), /at most 70000 bytes times channels, got \d+ on 10/);
  assert.equal((await metrics.deadLetters.get()).values[0]?.labels.reason, 'too_wide');
  assert.deepEqual(batch.committed, [3]);
});

test('channels that nobody listens to do not count', async () => {
  const { processor, publisher, buried } = setUp(['ids'], {}, 'stop', { maxFanoutBytes: 70_000 });
  publisher.wants = (channel) => channel.endsWith('k1') || channel.endsWith('k2');
  await processor.process(new FakeBatch(wide(1, 200, 20_000)));
  assert.equal(publisher.published.length, 2);
  assert.deepEqual(buried, []);
});

test('a record that takes more than a consumer may hold is a dead letter, is not decoded, and stops none behind it', async () => {
  const records = roomForRecords(80_000);
  const { processor, publisher, buried } = setUp([], {}, 'stop', { records });
  const batch = new FakeBatch(['x'.repeat(10_001), ...events(1)]);
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), [1]);
  // Decoded, it would be no JSON.
  assert.deepEqual(
    buried.map(({ headers }) => headers['sluice-reason']),
    ['too_large'],
  );
  assert.deepEqual(batch.committed, [2]);
  assert.equal(records.held, 0);
});

test('records are decoded as far as bytes can be reserved for their whole way', async () => {
  const records = roomForRecords(80_000);
  const { processor, publisher } = setUp([], {}, 'stop', { records });
  const held: number[] = [];
  publisher.failing = () => {
    held.push(records.held);
    return [];
  };
  const batch = new FakeBatch(wide(7, 0, 4_000));
  await processor.process(batch);
  assert.deepEqual(batch.committed, [2, 4, 6, 7]);
  assert.deepEqual(offsetsOf(publisher), range(0, 7));
  for (const bytes of held) assert.ok(bytes > 4_000 && bytes <= 80_000, `${bytes}`);
  assert.equal(records.held, 0);
});

test('a consumer that waits for bytes decodes nothing, and goes on when they are given back', async () => {
  const records = roomForRecords(1_000);
  const other = records.tryReserve(1_000, {});
  const { processor, publisher, stopping } = setUp([], {}, 'stop', { records });
  const batch = new FakeBatch(events(3));
  const processing = processor.process(batch);
  await setImmediate();
  assert.deepEqual([records.waiting, publisher.asked.length], [1, 0]);
  other?.release();
  await processing;
  assert.deepEqual(batch.committed, [3]);

  const again = records.tryReserve(1_000, {});
  const stopped = processor.process(new FakeBatch(events(3)));
  stopping.abort();
  await stopped;
  assert.deepEqual([records.waiting, publisher.published.length], [0, 3]);
  again?.release();
});

test('a batch that takes long is left behind a chunk, so that other partitions get their turn', async () => {
  const { processor, clock, publisher } = setUp();
  let now = 0;
  clock.now = () => now;
  publisher.failing = () => {
    now += 130;
    return [];
  };
  const batch = new FakeBatch(events(2_000));
  await processor.process(batch);
  assert.deepEqual(batch.committed, [500, 1_000]);
});
