import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KafkaMessage } from '../../../src/events/event.ts';
import { decodeMessage } from '../../../src/events/message.ts';
import { Pipeline } from '../../../src/ingest/pipeline.ts';
import {
  RoutedEvent,
  type EncodeResult,
  type EncodedEvent,
  type RouteResult,
} from '../../../src/ingest/routed-event.ts';
import { Tombstone } from '../../../src/ingest/tombstone.ts';
import { hashOfKey } from '../../../src/events/deletion.ts';
import type { KafkaRecord } from '../../../src/ingest/record.ts';
import { DecodeError } from '../../../src/events/decode-error.ts';
import { Metrics } from '../../../src/metrics.ts';
import type { Topic } from '../../../src/graph/graph.ts';
import { range } from '../../helpers/numbers.ts';
import { readableLog, record, topic, topics } from './parts.ts';

function pipelineOf(one: Topic, options: { maxAgeSeconds?: number; now?: number } = {}) {
  const metrics = new Metrics();
  const { log, lines } = readableLog();
  const pipeline = new Pipeline({
    topics: topics(one),
    prefix: 'p:',
    maxAgeSeconds: options.maxAgeSeconds ?? 0,
    metrics,
    log,
    now: () => options.now ?? 5_000,
  });
  const opened = (taken: KafkaRecord): EncodeResult | Promise<EncodeResult> => {
    const outcome = pipeline.route(taken);
    return outcome instanceof Promise ? outcome.then(open) : open(outcome);
  };
  return { pipeline, opened, metrics, lines };
}

function open(outcome: RouteResult): EncodeResult | Promise<EncodeResult> {
  assert.ok(!(outcome instanceof Tombstone), 'expected an event, got a tombstone');
  return outcome === undefined || outcome instanceof DecodeError ? outcome : outcome.encode();
}

function reasonOf(opened: EncodeResult | Promise<EncodeResult>): string {
  assert.ok(opened instanceof DecodeError, `expected a dead letter, got ${JSON.stringify(opened)}`);
  return opened.reason;
}

function publishedOf(opened: EncodeResult | Promise<EncodeResult>): EncodedEvent {
  assert.ok(opened !== undefined && 'payload' in opened, `expected an event, got ${JSON.stringify(opened)}`);
  return opened;
}

const eventOf = (opened: EncodeResult | Promise<EncodeResult>) =>
  decodeMessage(publishedOf(opened).payload)?.event;

test('an event goes to the whole topic and to the channel of its key, as one shared payload', () => {
  const { opened } = pipelineOf(topic('bids', { keys: ['auction_id'] }));
  const { channels, payload } = publishedOf(
    opened(record('{"auctionId":"a/1","amount":5}', { key: Buffer.from('k') })),
  );
  assert.deepEqual(channels, ['p:bids', 'p:bids:auction_id=a%2F1']);
  assert.deepEqual(decodeMessage(payload), {
    v: 1,
    t: 'bids',
    p: 2,
    o: 7,
    ts: 1_000,
    in: 5_000,
    key: 'k',
    event: { auction_id: 'a/1', amount: 5 },
  });
});

test('an event carries the id of its topic, if Kafka has told it', () => {
  const { opened } = pipelineOf(topic('bids'));
  const idOf = (topicId: string | undefined) =>
    decodeMessage(publishedOf(opened(record('{}', { topicId }))).payload)?.id;
  assert.equal(idOf('Lf8HDNpcTy6QxPnJRbqZzA'), 'Lf8HDNpcTy6QxPnJRbqZzA');
  assert.equal(idOf(undefined), undefined);
});

/** A depth that the bound of lists and objects permits. */
const DEEP = 40_000;
const MEGABYTE = 1_000_000;
const different = (count: number): string =>
  range(0, count)
    .map((n) => `"key_${n}":0`)
    .join(' ,');
const poison: [string, string | Buffer, string][] = [
  ['text that is not JSON', 'not json', 'not_json'],
  ['an empty value', '', 'empty'],
  ['nested arrays', '['.repeat(DEEP) + ']'.repeat(DEEP), 'not_an_object'],
  ['nested arrays in an object', `{"a":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`, 'too_deep'],
  ['opening brackets', '['.repeat(DEEP), 'not_json'],
  ['nested objects', `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`, 'too_deep'],
  ['1 MB of opening brackets', '['.repeat(MEGABYTE), 'too_large'],
  ['more than 50,000 objects', `{"a":[${'{},'.repeat(50_000)}{}]}`, 'too_large'],
  ['more than 10,000 different keys', `{${different(10_001)}}`, 'too_large'],
  ['as many in small objects', `{"a":[{${different(10_001).replaceAll(' ,', '},{')}}]}`, 'too_large'],
  ['a key __proto__', '{"__proto__":{"x":1}}', 'forbidden_key'],
  ['a key constructor with a prototype', '{"constructor":{"prototype":{}}}', 'forbidden_key'],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'invalid_utf8'],
  ['null', 'null', 'not_an_object'],
  ['a number', '1', 'not_an_object'],
  ['an array', '[{}]', 'not_an_object'],
];

for (const keyStyle of ['SNAKE', 'KEEP'] as const) {
  for (const [what, value, reason] of poison) {
    test(`${keyStyle}: ${what} is a decode error (${reason})`, () => {
      const { opened } = pipelineOf(topic('bids', { keyStyle }));
      assert.equal(reasonOf(opened(record(value))), reason);
    });
  }
}

test('an event of 1 MB is decoded that has few lists, objects and different keys, whatever is in its texts', () => {
  const item = { id: 1, text: '[{"key": "\\' };
  const event = { list: range(0, MEGABYTE / 40).map(() => item), text: '{"a" :'.repeat(50_000) };
  const { opened } = pipelineOf(topic('bids'));
  assert.deepEqual(eventOf(opened(record(JSON.stringify(event)))), event);
});

for (const [value, message] of [
  ['secret-token', 'expected JSON, got something else'],
  ['null', 'expected an object, got null'],
  ['["secret"]', 'expected an object, got an array'],
  ['"secret"', 'expected an object, got a string'],
] as const) {
  test(`a decode error, which is logged, does not hold the content of its message: ${value}`, () => {
    const outcome = pipelineOf(topic('bids')).pipeline.route(record(value));
    assert.ok(outcome instanceof DecodeError);
    assert.equal(outcome.message, message);
  });
}

test('KEEP leaves keys as they are', () => {
  const { opened } = pipelineOf(topic('bids', { keyStyle: 'KEEP', keys: ['auctionId'] }));
  const event = opened(record('{"auctionId":1}'));
  assert.equal(publishedOf(event).channels[1], 'p:bids:auctionId=1');
  assert.deepEqual(eventOf(event), { auctionId: 1 });
});

test('an event goes to the channel of its nested key, and so does one that is routed by its Kafka key', async () => {
  const key = 'seller.house_id';
  const nested = topic('bids', { keys: [key], kafkaKey: key });
  const { pipeline, metrics } = pipelineOf(nested);
  const routed = (value: string): readonly string[] => {
    const outcome = pipeline.route(record(value, { key: Buffer.from('7') }));
    assert.ok(outcome instanceof RoutedEvent);
    return outcome.channels;
  };
  const channels = ['p:bids', 'p:bids:seller.house_id=7'];
  assert.deepEqual(routed('{"Seller":{"houseId":7}}'), channels);
  assert.deepEqual(routed('not even parsed'), channels);
  assert.deepEqual((await metrics.kafkaKeyMismatches.get()).values, []);
});

test('keys of other names have channels of other names', () => {
  const keys = ['a.b_c', 'a_b.c', 'a_b_c', 'a.b.c'];
  const { opened } = pipelineOf(topic('bids', { keys }));
  const { channels } = publishedOf(opened(record('{"a":{"bC":1,"b":{"c":1}},"a_b":{"c":1},"aB_c":1}')));
  assert.deepEqual(channels, ['p:bids', ...keys.map((key) => `p:bids:${key}=1`)]);
});

test('an event older than the limit is skipped and counted, one without a timestamp is not', async () => {
  const { opened, metrics } = pipelineOf(topic('bids'), { maxAgeSeconds: 10, now: 20_000 });
  assert.equal(opened(record('{}', { timestamp: 9_999 })), undefined);
  assert.deepEqual(eventOf(opened(record('{}', { timestamp: 10_000 }))), {});
  assert.deepEqual(eventOf(opened(record('{}', { timestamp: -1 }))), {});
  assert.deepEqual((await metrics.staleEvents.get()).values[0]?.value, 1);
});

test('a graph’s decode sees the whole message, and may pass it over', () => {
  const seen: KafkaMessage[] = [];
  const { opened } = pipelineOf(
    topic('bids', {
      decode: (message) => {
        seen.push(message);
        return message.value.length === 0 ? null : { text: String(message.value), key: String(message.key) };
      },
    }),
  );
  assert.equal(opened(record('')), undefined);
  const headers = { one: Buffer.from('1'), two: [Buffer.from('2'), '3'] };
  const key = Buffer.from('k');
  assert.deepEqual(eventOf(opened(record('x', { headers, key }))), { text: 'x', key: 'k' });
  const place = { topic: 'bids', partition: 2, offset: 7, timestamp: 1_000 };
  assert.deepEqual(
    { ...seen[1], headers: { ...seen[1]?.headers } },
    { value: Buffer.from('x'), key, headers: { one: '1', two: ['2', '3'] }, ...place },
  );
});

test('a tombstone is passed over and counted, and is neither decoded nor a dead letter', async () => {
  for (const options of [{}, { decode: () => fail(new Error('called')) }, { keys: ['id'], kafkaKey: 'id' }]) {
    const { opened, metrics } = pipelineOf(topic('bids', options));
    assert.equal(opened(record(null, { key: Buffer.from('7') })), undefined);
    assert.deepEqual((await metrics.tombstones.get()).values, [{ value: 1, labels: { topic: 'bids' } }]);
  }
});

const topicsOf = async (counter: { get(): Promise<{ values: { labels: object }[] }> }) =>
  (await counter.get()).values.map(({ labels }) => (labels as { topic: string }).topic);

test('topics of a pattern share the room for what is known of CloudEvents, and each has counters that begin at 0', async () => {
  const pattern = topic('/^b/', { pattern: /^b/, envelope: 'CLOUDEVENTS', keys: ['id'] });
  const { pipeline, metrics } = pipelineOf(pattern);
  const event = JSON.stringify({ specversion: '1.0', id: '1', source: '/s', type: 't', data: { id: 1 } });
  const isPublished = (name: string, offset: number): boolean =>
    pipeline.route(record(event, { topic: name, offset })) instanceof RoutedEvent;
  assert.deepEqual([isPublished('b1', 1), isPublished('b2', 1), isPublished('b1', 2)], [true, true, false]);
  assert.deepEqual(await topicsOf(metrics.tombstones), ['b1', 'b2']);
  assert.deepEqual(await topicsOf(metrics.missingKeys), ['b1', 'b2']);
});

test('a tombstone of a topic with history deletes its key, unless it has none, or one that is no text', () => {
  const history = { size: 10, ttlMs: 60_000, keepsAll: true };
  const { pipeline } = pipelineOf(topic('bids', { history }), { maxAgeSeconds: 1, now: 1_000_000 });
  const deletes = (key: Buffer | null): string | undefined => {
    const outcome = pipeline.route(record(null, { key }));
    if (outcome === undefined) return undefined;
    assert.ok(outcome instanceof Tombstone, `expected a tombstone, got ${JSON.stringify(outcome)}`);
    return outcome.publication({ name: 'bids' }).deletes;
  };
  assert.equal(deletes(Buffer.from('ä'.repeat(5_000))), hashOfKey('ä'.repeat(5_000)));
  assert.equal(hashOfKey('ä'.repeat(5_000)).length, 22);
  assert.deepEqual(
    [deletes(null), deletes(Buffer.from([0xff])), deletes(Buffer.from('\uFFFD'))],
    [undefined, undefined, undefined],
  );
});

test("an asynchronous decode's event is awaited, and its keys are renamed", async () => {
  const { opened } = pipelineOf(topic('bids', { decode: () => Promise.resolve({ someKey: 1 }) }));
  assert.deepEqual(eventOf(await opened(record('x'))), { some_key: 1 });
});

const faults: [string, () => unknown, string][] = [
  ['throws', () => fail(new Error('no schema')), 'decode_failed'],
  ['throws undefined', () => fail(undefined), 'decode_failed'],
  ['rejects', () => Promise.reject(new Error('no schema')), 'decode_failed'],
  ['gives text', () => 'text', 'not_an_object'],
  ['gives nothing', () => undefined, 'not_an_object'],
  ['gives an array later', () => Promise.resolve([]), 'not_an_object'],
  ['gives a BigInt', () => ({ amount: 1n }), 'decode_failed'],
  ['gives a circle', circle, 'decode_failed'],
  ['gives a forbidden key', () => JSON.parse('{"__proto__":1}') as unknown, 'forbidden_key'],
];

for (const [what, decode, reason] of faults) {
  test(`a decode function that ${what} makes the message a decode error (${reason})`, async () => {
    const { opened } = pipelineOf(topic('bids', { decode: decode as Topic['decode'] }));
    assert.equal(reasonOf(await opened(record('x'))), reason);
  });
}

test('the event that decode returns is not changed, and dates in it become text', () => {
  const shared = Object.freeze({ aList: Object.freeze([{ innerKey: new Date(0) }]) });
  const { opened } = pipelineOf(topic('bids', { decode: () => shared as never }));
  assert.deepEqual(eventOf(opened(record('x'))), { a_list: [{ inner_key: '1970-01-01T00:00:00.000Z' }] });
});

/** Faults that are found when the event is opened; those of the other messages of `poison` are found before. */
const FOUND_WHEN_OPENED: ReadonlySet<string> = new Set(['too_deep', 'forbidden_key']);

for (const [what, value, reason] of poison) {
  const found = FOUND_WHEN_OPENED.has(reason) ? 'not noticed' : 'noticed';
  test(`without subscribers, ${what} is ${found}`, () => {
    const { pipeline } = pipelineOf(topic('bids', { keys: ['a'] }));
    const outcome = pipeline.route(record(value));
    assert.equal(outcome instanceof DecodeError, found === 'noticed');
  });
}

function fail(thrown: unknown): never {
  throw thrown;
}

function circle(): unknown {
  const round: Record<string, unknown> = {};
  round['self'] = round;
  return round;
}
