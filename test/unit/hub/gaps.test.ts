import assert from 'node:assert/strict';
import test from 'node:test';
import { operation, settled, setUp, type FakeSubscriber } from './parts.ts';
import { upTo } from '../../helpers/numbers.ts';
import { deferred } from '../../helpers/deferred.ts';
import { readableLog } from '../ingest/parts.ts';

const asked = operation();

interface Result {
  readonly data?: { readonly n: number } | null;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
  readonly extensions?: { readonly gap: { readonly topic: string } };
}

/** What a subscriber got: the number of an event, the code of an error, or the topic of a gap. */
const kinds = ({ results }: FakeSubscriber): unknown[] =>
  (results as Result[]).map(
    ({ data, errors, extensions }) => data?.n ?? errors?.[0]?.extensions.code ?? extensions?.gap.topic,
  );

test('where events may be missing, subscribers that asked for it are told, and the others are to reconnect', () => {
  const { bus, join } = setUp();
  const [told, other] = [join(asked, {}, true).subscriber, join(asked).subscriber];
  const keyed = join(asked, { id: 7 }).subscriber;
  const before = Date.now();
  bus.carry('bids', 1, { n: 1 });
  bus.gap('bids');
  bus.carry('bids', 5, { n: 5 });
  assert.deepEqual(kinds(told), [1, 'bids', 5]);
  const { at } = (told.results[1] as { extensions: { gap: { at: number } } }).extensions.gap;
  assert.ok(before <= at && at <= Date.now(), `at ${at}`);
  assert.deepEqual(told.results[1], { data: null, extensions: { gap: { topic: 'bids', at } } });
  assert.equal(told.reconnections, 0);
  // Until its socket is closed, the subscription goes on.
  assert.deepEqual(kinds(other), [1, 5]);
  assert.deepEqual([other.reconnections, keyed.reconnections], [1, 1]);
});

test('a gap of one topic does not concern subscribers of another, nor those that join later', () => {
  const { bus, join } = setUp();
  const early = join(asked).subscriber;
  bus.gap('asks');
  assert.equal(early.reconnections, 0);
  bus.gap('bids');
  assert.equal(early.reconnections, 1);
  const late = [join(asked).subscriber, join(asked, {}, true).subscriber];
  bus.carry('bids', 1, { n: 1 });
  for (const subscriber of late) assert.deepEqual(kinds(subscriber), [1]);
  assert.equal(late[0]?.reconnections, 0);
});

/** A hub whose first execution waits. */
function setUpHeld(maxWaiting?: number) {
  const first = deferred();
  const parts = setUp({
    ...(maxWaiting !== undefined && { maxWaiting }),
    execute: (event: { n: number }) =>
      event.n === 1 ? first.promise.then(() => ({ data: event })) : { data: event },
  });
  const finish = (): Promise<void> => (first.resolve(), settled());
  return { ...parts, finish };
}

test('a gap is told behind an event that is still being executed, and before the next one', async () => {
  const { bus, join, finish } = setUpHeld();
  const [told, other] = [join(asked, {}, true).subscriber, join(asked).subscriber];
  bus.carry('bids', 1, { n: 1 });
  bus.gap('bids');
  bus.carry('bids', 5, { n: 5 });
  assert.deepEqual([told.results, other.results], [[], []]);
  await finish();
  assert.deepEqual(kinds(told), [1, 'bids', 5]);
  assert.deepEqual(kinds(other), [1, 5]);
});

test('a gap is told behind events that the group has skipped', async () => {
  const { bus, join, finish } = setUpHeld(1);
  const { subscriber } = join(asked, {}, true);
  for (const n of [1, 2]) bus.carry('bids', n, { n });
  bus.gap('bids');
  await finish();
  bus.carry('bids', 5, { n: 5 });
  assert.deepEqual(kinds(subscriber), [1, 'EVENTS_SKIPPED', 'bids', 5]);
});

test('a gap waits for the messages that came before it and have to wait for a turn', async () => {
  const { bus, join } = setUp();
  const subscribers = Array.from({ length: 4_000 }, () => join(asked, {}, true).subscriber);
  for (let n = 1; n <= 100; n += 1) bus.carry('bids', n, { n });
  bus.gap('bids');
  const [one] = subscribers;
  assert.ok(one !== undefined && one.results.length < 100, 'expected messages that wait');
  while (one.results.length < 101) await settled();
  assert.deepEqual(kinds(one), [...upTo(100), 'bids']);
});

test('a gap is serialised once for all groups of its topic', () => {
  const { bus, hub, join } = setUp();
  const json = new Set<Buffer>();
  for (const id of [1, 2, 3]) {
    const { subscriber } = join(asked, { id }, true);
    subscriber.deliver = (result) => void json.add(result.json);
  }
  assert.equal(hub.inspector.inspect(1).groups.count, 3);
  bus.gap('bids');
  assert.equal(json.size, 1);
});

test('with ON_GAP=tell all subscribers are told, and none is to reconnect', () => {
  const { bus, join } = setUp({ gapPolicy: 'tell' });
  const subscribers = [join(asked, {}, true).subscriber, join(asked).subscriber];
  bus.gap('bids');
  for (const subscriber of subscribers)
    assert.deepEqual([kinds(subscriber), subscriber.reconnections], [['bids'], 0]);
});

test('with ON_GAP=ignore no client notices a gap, but it is counted and logged', async () => {
  const { lines, log } = readableLog('warn');
  const { bus, join, metrics } = setUp({ gapPolicy: 'ignore', log });
  const subscribers = [join(asked, {}, true).subscriber, join(asked).subscriber];
  const counted = async () => (await metrics.gaps.get()).values;
  assert.deepEqual(await counted(), [{ value: 0, labels: { topic: 'bids' } }]);
  bus.gap('bids');
  for (const { results, reconnections } of subscribers) assert.deepEqual([results, reconnections], [[], 0]);
  assert.deepEqual(await counted(), [{ value: 1, labels: { topic: 'bids' } }]);
  const { msg, topic, subscribers: count, told } = lines[0] ?? {};
  assert.deepEqual([msg, topic, count, told], ['events may have been missed', 'bids', 2, 0]);
});

test('gaps of one topic that follow each other are counted each, and logged once', async () => {
  const { lines, log } = readableLog('warn');
  const { bus, join, metrics } = setUp({ log });
  join(asked, {}, true);
  join(asked);
  for (let count = 0; count < 3; count += 1) bus.gap('bids');
  assert.equal((await metrics.gaps.get()).values[0]?.value, 3);
  const counts = lines.map(({ told, reconnecting }) => [told, reconnecting]);
  assert.deepEqual(counts, [[1, 1]]);
});
