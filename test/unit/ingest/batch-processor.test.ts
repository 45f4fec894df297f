import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KafkaMessage } from 'kafkajs';
import type { Topic } from '../../../src/graph/graph.ts';
import { BatchProcessor, type Batch } from '../../../src/ingest/batch-processor.ts';
import type { Clock } from '../../../src/ingest/clock.ts';
import { DeadLetters, type DeadLetterMessage } from '../../../src/ingest/dead-letter.ts';
import { decodeMessage } from '../../../src/ingest/message.ts';
import { Pipeline } from '../../../src/ingest/pipeline.ts';
import { Metrics } from '../../../src/metrics.ts';
import { RecordingPublisher, readableLog, topic, topics } from './parts.ts';

/** Backoff waits end in the next turn of the loop; heartbeats in between never become due. */
class HastyClock implements Clock {
  readonly waits: number[] = [];
  now = () => 0;
  random = () => 1;
  sleep = (ms: number, signal: AbortSignal) => {
    const isBeat = ms === 1_000;
    if (!isBeat) this.waits.push(ms);
    return new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (!isBeat) setImmediate(resolve);
    });
  };
}

function setUp(keys: string[] = [], options: Partial<Topic> = {}) {
  const publisher = new RecordingPublisher();
  const clock = new HastyClock();
  const metrics = new Metrics();
  const { log, lines } = readableLog();
  const stopping = new AbortController();
  const buried: DeadLetterMessage[] = [];
  const sink = {
    failing: false,
    send(messages: readonly DeadLetterMessage[]) {
      if (this.failing) return Promise.reject(new Error('Kafka is away'));
      buried.push(...messages);
      return Promise.resolve();
    },
  };
  const processor = new BatchProcessor({
    pipeline: new Pipeline({
      topics: topics(topic('bids', { keys, ...options })),
      prefix: '',
      maxAgeSeconds: 0,
      metrics,
      log,
      now: clock.now,
    }),
    publisher,
    deadLetters: new DeadLetters({ sink, metrics, log, now: clock.now }),
    metrics,
    log,
    clock,
    stopping: stopping.signal,
  });
  return { publisher, clock, metrics, stopping, sink, buried, processor, lines };
}

/** What kafkajs would hand over, and what was done with it. */
class FakeBatch implements Batch {
  readonly batch: Batch['batch'];
  readonly committed: string[] = [];
  resolved = '';
  beats = 0;
  running = true;
  stale = false;
  onHeartbeat: () => void = () => undefined;

  constructor(values: string[], keys: readonly (string | Buffer | undefined)[] = []) {
    const messages = values.map((value, offset) => ({
      key: keys[offset] === undefined ? null : Buffer.from(keys[offset]),
      value: Buffer.from(value),
      offset: String(offset),
      timestamp: '0',
      attributes: 0,
    })) as unknown as KafkaMessage[];
    this.batch = { topic: 'bids', partition: 0, messages };
  }

  resolveOffset(offset: string) {
    this.resolved = offset;
  }

  async heartbeat() {
    this.beats += 1;
    this.onHeartbeat();
  }

  uncommittedOffsets() {
    return { topics: [{ topic: 'bids', partitions: [{ partition: 0, offset: this.resolved }] }] };
  }

  async commitOffsetsIfNecessary() {
    this.committed.push(this.resolved);
  }

  isRunning() {
    return this.running;
  }

  isStale() {
    return this.stale;
  }
}

const events = (count: number) => Array.from({ length: count }, (_, n) => `{"n":${n}}`);

const offsetsOf = (publisher: RecordingPublisher) =>
  publisher.published.map(({ payload }) => decodeMessage(payload)?.o);

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

test('a batch is published in chunks, in order, each committed after it was taken', async () => {
  const { processor, publisher, metrics } = setUp();
  const batch = new FakeBatch(events(1_200));
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), range(0, 1_200));
  assert.equal(publisher.attempts, 3);
  assert.deepEqual(batch.committed, ['499', '999', '1199']);
  assert.equal((await metrics.events.get()).values[0]?.value, 1_200);
});

test('while the bus takes nothing, nothing is committed and waits grow; then it goes on', async () => {
  const { processor, publisher, clock } = setUp();
  const batch = new FakeBatch(events(3));
  publisher.failing = () => {
    assert.deepEqual(batch.committed, []);
    return publisher.attempts < 10 ? 0 : undefined;
  };
  await processor.process(batch);
  assert.deepEqual(clock.waits, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
  assert.ok(batch.beats >= 9, `expected a heartbeat after each wait, got ${batch.beats}`);
  assert.deepEqual(offsetsOf(publisher), [0, 1, 2]);
  assert.deepEqual(batch.committed, ['2']);
});

test('a second attempt begins with the first event that is not acknowledged in full', async () => {
  const { processor, publisher } = setUp(['ids']);
  // Three channels an event: the topic and two ids. The fifth publication is in the middle of the second event.
  const values = [0, 1, 2].map((n) => `{"ids":["a${n}","b${n}"]}`);
  publisher.failing = () => (publisher.attempts === 1 ? 5 : undefined);
  const batch = new FakeBatch(values);
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2]);
  assert.deepEqual(batch.committed, ['2']);
});

test('attempts that each get a little further add up', async () => {
  const { processor, publisher } = setUp();
  publisher.failing = (batch) => (batch.length > 1 ? 1 : undefined);
  await processor.process(new FakeBatch(events(4)));
  assert.deepEqual(offsetsOf(publisher), [0, 1, 2, 3]);
});

test('whatever else a publisher throws counts as nothing taken', async () => {
  const { processor, publisher } = setUp();
  publisher.failing = () => {
    if (publisher.attempts === 1) throw new TypeError('a fault');
    return undefined;
  };
  const batch = new FakeBatch(events(2));
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), [0, 1]);
  assert.deepEqual(batch.committed, ['1']);
});

const leaving: [string, (batch: FakeBatch, parts: ReturnType<typeof setUp>) => void][] = [
  ['the consumer stops', (batch) => void (batch.running = false)],
  ['a stop is asked for', (_batch, { stopping }) => stopping.abort()],
  ['the partition was sought', (batch) => void (batch.stale = true)],
  ['the group was joined anew', (_batch, { processor }) => processor.newGeneration()],
];

for (const [what, happen] of leaving) {
  test(`when ${what} while the bus is away, the batch is left uncommitted`, async () => {
    const parts = setUp();
    const batch = new FakeBatch(events(3));
    parts.publisher.failing = () => {
      happen(batch, parts);
      return 1;
    };
    await parts.processor.process(batch);
    assert.equal(parts.publisher.attempts, 1);
    assert.deepEqual(batch.committed, []);
    assert.equal(batch.resolved, '');
  });
}

test('a chunk that arrived is committed in a stop, and no further one begins', async () => {
  const { processor, publisher } = setUp();
  const batch = new FakeBatch(events(600));
  publisher.failing = () => {
    batch.running = false;
    return undefined;
  };
  await processor.process(batch);
  assert.equal(publisher.attempts, 1);
  assert.deepEqual(batch.committed, ['499']);
});

test('a chunk that arrived is not committed once the group was joined anew', async () => {
  const { processor, publisher } = setUp();
  const batch = new FakeBatch(events(1));
  publisher.failing = () => {
    processor.newGeneration();
    return undefined;
  };
  await processor.process(batch);
  assert.equal(publisher.published.length, 1);
  assert.deepEqual(batch.committed, []);
});

test('what a heartbeat throws reaches kafkajs, which joins again', async () => {
  const { processor, publisher } = setUp();
  const batch = new FakeBatch(events(600));
  const rebalance = new Error('the group is rebalancing');
  batch.onHeartbeat = () => {
    if (publisher.attempts === 1) throw rebalance;
  };
  await assert.rejects(processor.process(batch), rebalance);
  assert.deepEqual(batch.committed, ['499']);
});

test('a batch is committed only when its dead letters are acknowledged too, its events go once', async () => {
  const { processor, publisher, sink, buried, metrics } = setUp();
  const batch = new FakeBatch(['{"n":0}', 'not json', '{"n":2}']);
  sink.failing = true;
  let attempts = 0;
  batch.onHeartbeat = () => {
    assert.deepEqual(batch.committed, []);
    attempts += 1;
    if (attempts === 4) sink.failing = false;
  };
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), [0, 2]);
  assert.equal(buried.length, 1);
  assert.deepEqual(batch.committed, ['2']);
  assert.equal((await metrics.deadLetters.get()).values[0]?.value, 1);
});

test('a batch of nothing but poison is committed', async () => {
  const { processor, publisher, buried } = setUp();
  const batch = new FakeBatch(['', 'x', '[]']);
  await processor.process(batch);
  assert.equal(publisher.attempts, 0);
  assert.equal(buried.length, 3);
  assert.deepEqual(batch.committed, ['2']);
});

const count = async (counter: Metrics['unsubscribedEvents']) => (await counter.get()).values[0]?.value ?? 0;

test('the bus is asked once a chunk, for each channel once, before anything is published', async () => {
  const { processor, publisher } = setUp(['id']);
  await processor.process(new FakeBatch(range(0, 700).map((n) => `{"id":${n % 3}}`)));
  assert.deepEqual(publisher.asked, [
    ['bids', 'bids:id=0', 'bids:id=1', 'bids:id=2'],
    ['bids', 'bids:id=2', 'bids:id=0', 'bids:id=1'],
  ]);
});

test('only channels with subscribers are published on; the other events count, and are committed', async () => {
  const { processor, publisher, metrics } = setUp(['id']);
  publisher.wants = (channel) => channel === 'bids:id=1';
  const batch = new FakeBatch(range(0, 9).map((n) => `{"id":${n % 3}}`));
  await processor.process(batch);
  assert.deepEqual(
    publisher.published.map(({ channel }) => channel),
    ['bids:id=1', 'bids:id=1', 'bids:id=1'],
  );
  assert.deepEqual(offsetsOf(publisher), [1, 4, 7]);
  assert.equal(await count(metrics.unsubscribedEvents), 6);
  assert.deepEqual(batch.committed, ['8']);
});

test('where nobody is subscribed, nothing is published, and the committed offset goes on', async () => {
  const { processor, publisher, metrics } = setUp();
  publisher.wants = () => false;
  const batch = new FakeBatch(events(1_200));
  await processor.process(batch);
  assert.equal(publisher.attempts, 0);
  assert.deepEqual(batch.committed, ['499', '999', '1199']);
  assert.equal(await count(metrics.unsubscribedEvents), 1_200);
});

test('who joins between two chunks gets the second one', async () => {
  const { processor, publisher } = setUp();
  publisher.wants = () => publisher.asked.length > 1;
  await processor.process(new FakeBatch(events(600)));
  assert.deepEqual(offsetsOf(publisher), range(500, 600));
});

test('a bus that cannot be asked is one that takes nothing: it is asked again, and who has joined by then gets all', async () => {
  const { processor, publisher, clock, metrics } = setUp();
  let joined = false;
  publisher.wants = () => {
    if (clock.waits.length < 3) throw new Error('the bus is away');
    joined = true;
    return joined;
  };
  const batch = new FakeBatch(events(3));
  await processor.process(batch);
  assert.deepEqual(clock.waits, [50, 100, 200]);
  assert.deepEqual(offsetsOf(publisher), [0, 1, 2]);
  assert.deepEqual(batch.committed, ['2']);
  assert.equal(await count(metrics.unsubscribedEvents), 0);
});

test('a second attempt asks again for what has not arrived, and no event is counted twice', async () => {
  const { processor, publisher, metrics } = setUp(['id']);
  publisher.wants = (channel) =>
    channel === 'bids:id=1' || (publisher.asked.length > 1 && channel === 'bids:id=2');
  publisher.failing = () => (publisher.attempts === 1 ? 1 : undefined);
  // Of the first attempt 1 arrives and 2 does not; the ones between them have passed by then.
  await processor.process(new FakeBatch([0, 1, 2, 1, 2, 0].map((id) => `{"id":${id}}`)));
  assert.deepEqual(publisher.asked[1], ['bids', 'bids:id=1', 'bids:id=2', 'bids:id=0']);
  assert.deepEqual(offsetsOf(publisher), [1, 3, 4]);
  assert.equal(await count(metrics.unsubscribedEvents), 3);
});

test('what is wrong inside of an event is found when somebody would have been sent it, and noted once', async () => {
  const { processor, publisher, buried, metrics } = setUp(['id']);
  publisher.wants = (channel) => channel === 'bids:id=1';
  publisher.failing = () => (publisher.attempts < 3 ? 0 : undefined);
  const batch = new FakeBatch(['{"id":1}', '{"id":1,"__proto__":1}', '{"id":2,"__proto__":1}', '{"id":1}']);
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), [0, 3]);
  assert.deepEqual(
    buried.map(({ headers }) => [headers['sluice-offset'], headers['sluice-reason']]),
    [['1', 'forbidden_key']],
  );
  assert.equal((await metrics.deadLetters.get()).values[0]?.value, 1);
  assert.equal(await count(metrics.unsubscribedEvents), 1);
  assert.deepEqual(batch.committed, ['3']);
});

/** A decode that tells how often it was called. */
function countedDecode() {
  const decode = (value: Buffer) => {
    decode.calls += 1;
    return JSON.parse(value.toString()) as { id: number };
  };
  decode.calls = 0;
  return decode;
}

const byKafkaKey = (decode?: Topic['decode']) => setUp(['id'], { kafkaKey: 'id', decode });

test('by their Kafka keys, messages that nobody is subscribed to are not even decoded', async () => {
  const decode = countedDecode();
  const { processor, publisher, metrics } = byKafkaKey(decode);
  publisher.wants = (channel) => channel === 'bids:id=1';
  const ids = range(0, 50).map((n) => n % 5);
  const batch = new FakeBatch(
    ids.map((id) => `{"id":${id}}`),
    ids.map(String),
  );
  await processor.process(batch);
  assert.deepEqual(
    offsetsOf(publisher),
    range(0, 50).filter((n) => n % 5 === 1),
  );
  // Those ten, and one that is looked at to find out whether the keys can be believed.
  assert.equal(decode.calls, 11);
  assert.equal(await count(metrics.unsubscribedEvents), 40);
  assert.deepEqual(batch.committed, ['49']);
});

test('a message without a Kafka key, or with one that is no text, is asked itself', async () => {
  const { processor, publisher, lines } = byKafkaKey();
  publisher.wants = (channel) => channel === 'bids:id=1';
  const batch = new FakeBatch(['{"id":1}', '{"id":1}', '{"id":1}'], ['1', Buffer.from([0xff]), undefined]);
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), [0, 1, 2]);
  assert.deepEqual(lines, []);
});

test('subscribers of the whole topic get every event, whatever its Kafka key', async () => {
  const { processor, publisher } = byKafkaKey();
  publisher.wants = (channel) => channel === 'bids';
  await processor.process(new FakeBatch(['{"id":1}', '{"id":2}', '{}'], ['1', '2', '3']));
  assert.deepEqual(offsetsOf(publisher), [0, 1, 2]);
});

test('by Kafka keys, what is no JSON and nobody wanted is no dead letter; what somebody wanted is', async () => {
  const { processor, publisher, buried } = byKafkaKey();
  publisher.wants = (channel) => channel === 'bids:id=1';
  const batch = new FakeBatch(['{"id":1}', 'nope', 'nope', '{"id":1}'], ['1', '1', '2', '1']);
  await processor.process(batch);
  assert.deepEqual(offsetsOf(publisher), [0, 3]);
  assert.equal(buried.length, 1);
  assert.deepEqual(batch.committed, ['3']);
});

test('a topic whose Kafka keys are found to be something else is parsed from then on, and it is said once', async () => {
  const { processor, publisher, metrics, lines } = byKafkaKey();
  publisher.wants = (channel) => channel === 'bids:id=1';
  // The first message is always looked at.
  const values = ['{"id":7}', '{"id":1}', '{"id":1}'];
  for (const keys of [
    ['a', 'b', 'c'],
    ['1', '1', 'd'],
  ])
    await processor.process(new FakeBatch(values, keys));
  assert.deepEqual(offsetsOf(publisher), [1, 2, 1, 2]);
  assert.equal(await count(metrics.kafkaKeyMismatches), 5);
  assert.equal(lines.filter(({ msg }) => String(msg).includes('KAFKA_KEY')).length, 1);
});
