import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { KafkaDriver } from '../../src/ingest/kafka/driver.ts';
import type { KafkaSource } from '../../src/ingest/kafka/source.ts';
import type { Message } from '../../src/events/message.ts';
import { systemClock } from '../../src/support/clock.ts';
import { startIngest, skip, useKafka, type Seen } from './ingest-kafka.ts';
import { range } from '../helpers/numbers.ts';

/** The messages of each partition came once and in order. */
function assertInOrder(messages: readonly Message[]): void {
  const last = new Map<number, number>();
  for (const { p, o } of messages) {
    assert.ok(o > (last.get(p) ?? -1), `partition ${p}: ${o} came after ${last.get(p)}`);
    last.set(p, o);
  }
}

const numbersOf = (messages: readonly Message[]) =>
  messages.map(({ event }) => Number(event['n'])).toSorted((a, b) => a - b);

test(
  'two members of a consumer group take 2,000 events of 6 partitions, each once and in order',
  { skip },
  async (t) => {
    const kafka = await useKafka(t, { partitions: 6 });
    const members = [await startIngest(t, kafka), await startIngest(t, kafka)];
    await kafka.membersAssigned(2);
    await kafka.send(range(0, 2_000).map((n) => ({ key: `k${n % 50}`, value: JSON.stringify({ n }) })));
    const [one, two] = members.map(({ seen }) => seen) as [Seen, Seen];
    await kafka.until(() => one.messages.length + two.messages.length >= 2_000, one, two);
    assert.deepEqual(numbersOf([...one.messages, ...two.messages]), range(0, 2_000));
    for (const { messages } of [one, two]) {
      assert.ok(messages.length > 0, 'expected both members to have partitions');
      assertInOrder(messages);
    }
    await kafka.committed(2_000);
  },
);

test(
  'while the bus is away longer than a session, the consumer commits nothing and stays a member of its group; then all events come, in order',
  { skip },
  async (t) => {
    const kafka = await useKafka(t, { partitions: 2 });
    const { seen, metrics } = await startIngest(t, kafka);
    await kafka.send(range(0, 100).map((n) => ({ value: JSON.stringify({ n }) })));
    await kafka.until(() => seen.messages.length === 100, seen);
    await kafka.committed(100);
    const before = await kafka.memberIds();
    seen.away = true;
    await kafka.send(range(0, 1_000).map((n) => ({ value: JSON.stringify({ n: 100 + n }) })));
    await once(seen, 'refused');
    const outage = systemClock.now() + kafka.timing.sessionTimeoutMs + 2_000;
    await kafka.until(() => systemClock.now() > outage, seen);
    assert.equal(await kafka.totalCommitted(), 100);
    assert.deepEqual(await kafka.memberIds(), before);
    seen.away = false;
    await kafka.until(() => seen.messages.length === 1_100, seen);
    assertInOrder(seen.messages);
    await kafka.committed(1_100);
    assert.equal((await metrics.consumerRestarts.get()).values[0]?.value, 0);
  },
);

test('a rebalance in the middle of a batch loses no event', { skip }, async (t) => {
  const kafka = await useKafka(t, { partitions: 4 });
  const first = await startIngest(t, kafka);
  first.seen.away = true;
  await kafka.send(range(0, 2_000).map((n) => ({ key: `k${n}`, value: JSON.stringify({ n }) })));
  await once(first.seen, 'refused');
  const second = await startIngest(t, kafka);
  await kafka.membersAssigned(2);
  first.seen.away = false;
  const all = () => [...first.seen.messages, ...second.seen.messages];
  const distinct = () => new Set(all().map(({ event }) => event['n'])).size;
  await kafka.until(() => distinct() === 2_000, first.seen, second.seen);
  assertInOrder(first.seen.messages);
  assertInOrder(second.seen.messages);
  assert.ok(second.seen.messages.length > 0, 'expected the second member to have partitions');
  await kafka.committed(2_000);
});

test(
  'a consumer that stops in mid-stream loses no event: the next one goes on where it left off',
  { skip },
  async (t) => {
    const kafka = await useKafka(t, { partitions: 2 });
    const first = await startIngest(t, kafka);
    await kafka.send(range(0, 3_000).map((n) => ({ value: JSON.stringify({ n }) })));
    await kafka.until(() => first.seen.messages.length > 0, first.seen);
    await first.ingest.stop();
    const taken = first.seen.messages.length;
    assert.equal(await kafka.totalCommitted(), taken);
    const second = await startIngest(t, kafka);
    await kafka.until(() => taken + second.seen.messages.length >= 3_000, second.seen);
    assert.deepEqual(numbersOf([...first.seen.messages, ...second.seen.messages]), range(0, 3_000));
  },
);

test(
  'a group that joins for the first time commits its position before any event comes, so later events are not skipped',
  { skip },
  async (t) => {
    const kafka = await useKafka(t, { partitions: 3 });
    await kafka.send(range(0, 30).map((n) => ({ value: JSON.stringify({ n }) })));
    const first = await startIngest(t, kafka);
    assert.equal(await kafka.totalCommitted(), 30);
    await first.ingest.stop();
    await kafka.send(range(0, 30).map((n) => ({ value: JSON.stringify({ n: 30 + n }) })));
    const second = await startIngest(t, kafka);
    await kafka.until(() => second.seen.messages.length >= 30, second.seen);
    assert.deepEqual(first.seen.messages, []);
    assert.deepEqual(
      numbersOf(second.seen.messages),
      range(0, 30).map((n) => 30 + n),
    );
  },
);

test(
  'KAFKA_START=latest skips events that came while the consumer group had no member, and no others',
  { skip },
  async (t) => {
    const kafka = await useKafka(t, { partitions: 1 });
    const settings = { KAFKA_START: 'latest' } as const;
    const before = await startIngest(t, kafka, { settings });
    await before.ingest.stop();
    await kafka.send([{ value: '{"n":1}' }]);
    const first = await startIngest(t, kafka, { settings });
    first.seen.away = true;
    await kafka.send([{ value: '{"n":2}' }]);
    await once(first.seen, 'refused');
    const second = await startIngest(t, kafka, { settings });
    await kafka.membersAssigned(2);
    first.seen.away = false;
    await kafka.until(
      () => first.seen.messages.length + second.seen.messages.length > 0,
      first.seen,
      second.seen,
    );
    assert.deepEqual(numbersOf([...first.seen.messages, ...second.seen.messages]), [2]);
  },
);

test(
  'poison messages go to the dead-letter topic, each counted by its reason, and the next event arrives',
  { skip },
  async (t) => {
    const kafka = await useKafka(t, { partitions: 1, deadLetters: true });
    const { seen, metrics } = await startIngest(t, kafka);
    const nested = '['.repeat(500_000) + ']'.repeat(500_000);
    const poison: [Buffer | string, string][] = [
      ['not json', 'not_json'],
      ['', 'empty'],
      [nested, 'not_an_object'],
      [`{"a":${nested}}`, 'too_deep'],
      ['{"__proto__":{"x":1}}', 'forbidden_key'],
      ['{"constructor":{"prototype":{}}}', 'forbidden_key'],
      [Buffer.from([0xc3, 0x28]), 'invalid_utf8'],
    ];
    for (const [value] of poison) await kafka.send([{ key: 'k', value }]);
    await kafka.send([{ value: '{"n":1}' }]);
    await kafka.until(() => seen.messages.length === 1, seen);
    await kafka.committed(poison.length + 1);
    const counted = new Map(
      (await metrics.deadLetters.get()).values.map(({ labels, value }) => [labels.reason, value]),
    );
    for (const [, reason] of poison) {
      assert.equal(counted.get(reason), poison.filter(([, other]) => other === reason).length, reason);
    }
    const sent = await kafka.deadLetters(poison.length);
    assert.deepEqual(
      sent.map(({ headers }) => String(headers?.['sluice-reason'])),
      poison.map(([, reason]) => reason),
    );
    assert.deepEqual(sent[0]?.value, Buffer.from('not json'));
    assert.equal(String(sent[1]?.headers?.['sluice-offset']), '1');
  },
);

test('a dead letter whose headers make it too large is sent without its value', { skip }, async (t) => {
  const kafka = await useKafka(t, { partitions: 1, deadLetters: true });
  const { seen } = await startIngest(t, kafka);
  const bytes = 1_048_588 - 150; // the largest record batch that brokers take by default, less its own overhead
  await kafka.send([{ value: Buffer.alloc(bytes, 'x') }]);
  await kafka.send([{ value: 'not json' }, { value: '{"n":1}' }]);
  await kafka.until(() => seen.messages.length === 1, seen);
  const [large, small] = await kafka.deadLetters(2);
  assert.equal(large?.value, null);
  assert.equal(String(large?.headers?.['sluice-bytes-left-out']), String(bytes));
  assert.equal(String(small?.value), 'not json');
});

test(
  'a consumer that crashes without restarting is replaced, and the pod is not ready meanwhile',
  { skip },
  async (t) => {
    const kafka = await useKafka(t, { partitions: 1 });
    let faulty = false;
    const started: KafkaSource[] = [];
    const reasons: (string | undefined)[] = [];
    const clock = {
      ...systemClock,
      sleep: (ms: number, signal: AbortSignal) => {
        reasons.push(started[0]?.notReady());
        return systemClock.sleep(ms, signal);
      },
    };
    const driver = (real: KafkaDriver): KafkaDriver => ({
      missingTopics: (wanted) => real.missingTopics(wanted),
      forgetGroup: (groupId) => real.forgetGroup(groupId),
      deadLetterSink: (topic) => real.deadLetterSink(topic),
      isRetriable: (error) => real.isRetriable(error),
      member: (options) =>
        real.member({
          ...options,
          onBatch: async (batch) => {
            if (!faulty) return options.onBatch(batch);
            faulty = false;
            throw new TypeError('a fault');
          },
        }),
    });
    const { seen, metrics, ingest } = await startIngest(t, kafka, { clock, driver });
    started.push(ingest);
    faulty = true;
    await kafka.send([{ value: '{"n":1}' }]);
    await kafka.until(() => seen.messages.length === 1, seen);
    assert.ok(reasons.includes('consumer crashed: a fault'), `got ${JSON.stringify(reasons)}`);
    assert.equal(ingest.notReady(), undefined);
    assert.equal(ingest.inspect().lastError, 'a fault');
    assert.equal((await metrics.consumerRestarts.get()).values[0]?.value, 1);
  },
);

test(
  'a look at the consumer shows the position and the lag of each partition, and which one waits for the bus',
  { skip },
  async (t) => {
    const kafka = await useKafka(t, { partitions: 2 });
    const { seen, ingest } = await startIngest(t, kafka);
    await kafka.send([
      { partition: 0, value: '{"n":1}' },
      { partition: 0, value: '{"n":2}' },
    ]);
    await kafka.committed(2);
    const inspected = () =>
      ingest
        .inspect()
        .partitions.map((partition) => ({ ...partition, lagSeconds: 0 }))
        .toSorted((one, other) => one.partition - other.partition);
    const at = { topic: kafka.topic, state: 'consuming', reason: undefined };
    const idle = { ...at, partition: 1, position: 0, highWatermark: 0, lag: 0, lagSeconds: 0 };
    // The broker has the commit before its member knows.
    await kafka.until(() => inspected()[0]?.position === 2 && inspected()[1]?.lag === 0, seen);
    assert.deepEqual(inspected(), [{ ...idle, partition: 0, position: 2, highWatermark: 2 }, idle]);
    assert.equal(ingest.inspect().connected, true);
    seen.away = true;
    await kafka.send([{ partition: 0, value: '{"n":3}' }]);
    await once(seen, 'refused');
    await kafka.until(() => inspected()[0]?.state === 'held', seen);
    const held = { state: 'held', partition: 0, position: 2, highWatermark: 3, lag: 1, lagSeconds: 0 };
    const { reason = '', ...rest } = inspected()[0] ?? {};
    assert.deepEqual(rest, { topic: kafka.topic, ...held });
    assert.match(reason, /acknowledged 0 of 1/);
    assert.deepEqual(inspected()[1], idle);
    seen.away = false;
    await kafka.committed(3);
    await kafka.until(() => inspected()[0]?.lag === 0, seen);
    assert.equal(inspected()[0]?.state, 'consuming');
  },
);

test('the consumer names missing topics, and subscribes to them once they exist', { skip }, async (t) => {
  const kafka = await useKafka(t, { partitions: 1, create: false });
  const { ingest, seen } = await startIngest(t, kafka, { awaitReady: false });
  await kafka.until(() => ingest.notReady()?.startsWith('topics missing') === true, seen);
  assert.equal(ingest.notReady(), `topics missing: ${kafka.topic}`);
  await kafka.create();
  await kafka.until(() => ingest.notReady() === undefined, seen);
});

test(
  'broadcast: every process gets every event, and its consumer group is deleted when it stops',
  { skip },
  async (t) => {
    const kafka = await useKafka(t, { partitions: 2 });
    const one = await startIngest(t, kafka, { broadcast: true });
    const two = await startIngest(t, kafka, { broadcast: true });
    assert.equal((await kafka.groups()).length, 2);
    await kafka.send(range(0, 100).map((n) => ({ value: JSON.stringify({ n }) })));
    await kafka.until(
      () => one.seen.messages.length === 100 && two.seen.messages.length === 100,
      one.seen,
      two.seen,
    );
    await one.ingest.stop();
    await two.ingest.stop();
    // A stop does not wait for a group that takes long to be deleted.
    await kafka.until(async () => (await kafka.groups()).length === 0, one.seen, two.seen);
  },
);

test('an unreachable Kafka delays neither start nor stop', async (t) => {
  const kafka = await useKafka(t, { partitions: 1, brokers: ['127.0.0.1:1'], create: false });
  const { ingest } = await startIngest(t, kafka, { awaitReady: false });
  assert.equal(ingest.notReady(), 'joining');
  assert.deepEqual(ingest.inspect(), { connected: false, lastError: undefined, partitions: [] });
  await ingest.stop();
  assert.equal(ingest.notReady(), 'stopped');
});
