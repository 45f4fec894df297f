import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMessage } from '../../../src/ingest/message.ts';
import { Pipeline, type Outcome } from '../../../src/ingest/pipeline.ts';
import { Undecodable } from '../../../src/ingest/undecodable.ts';
import { Metrics } from '../../../src/metrics.ts';
import type { Topic } from '../../../src/graph/graph.ts';
import { record, topic, topics } from './parts.ts';

function pipelineOf(one: Topic, options: { maxAgeSeconds?: number; now?: number } = {}) {
  const metrics = new Metrics();
  const pipeline = new Pipeline({
    topics: topics(one),
    prefix: 'p:',
    maxAgeSeconds: options.maxAgeSeconds ?? 0,
    metrics,
    now: () => options.now ?? 5_000,
  });
  return { pipeline, metrics };
}

function reasonOf(outcome: Outcome | Promise<Outcome>): string {
  assert.ok(outcome instanceof Undecodable, `expected a dead letter, got ${JSON.stringify(outcome)}`);
  return outcome.reason;
}

test('an event goes to the whole topic and to the channel of its key, as one shared payload', () => {
  const { pipeline } = pipelineOf(topic('bids', { keys: ['auction_id'] }));
  const outcome = pipeline.process(record('{"auctionId":"a/1","amount":5}', { key: Buffer.from('k') }));
  assert.ok(Array.isArray(outcome));
  const [whole, keyed, ...others] = outcome;
  assert.deepEqual([whole?.channel, keyed?.channel], ['p:bids', 'p:bids:auction_id=a%2F1']);
  assert.deepEqual(others, []);
  assert.equal(whole?.payload, keyed?.payload);
  assert.deepEqual(decodeMessage(whole?.payload ?? ''), {
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

const MEGABYTE = 1_000_000;
const poison: [string, string | Buffer | null, string][] = [
  ['text that is not JSON', 'not json', 'not_json'],
  ['an empty value', '', 'empty'],
  ['a tombstone', null, 'tombstone'],
  ['1 MB of nested arrays', '['.repeat(MEGABYTE / 2) + ']'.repeat(MEGABYTE / 2), 'not_an_object'],
  [
    '1 MB of nested arrays in an object',
    `{"a":${'['.repeat(MEGABYTE / 2)}${']'.repeat(MEGABYTE / 2)}}`,
    'too_deep',
  ],
  ['1 MB of opening brackets', '['.repeat(MEGABYTE), 'not_json'],
  ['1 MB of nested objects', `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`, 'too_deep'],
  ['a key __proto__', '{"__proto__":{"x":1}}', 'forbidden_key'],
  ['a key constructor with a prototype', '{"constructor":{"prototype":{}}}', 'forbidden_key'],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'invalid_utf8'],
  ['null', 'null', 'not_an_object'],
  ['a number', '1', 'not_an_object'],
  ['an array', '[{}]', 'not_an_object'],
];

for (const keyStyle of ['SNAKE', 'KEEP'] as const) {
  for (const [what, value, reason] of poison) {
    test(`${keyStyle}: ${what} is undecodable (${reason})`, () => {
      const { pipeline } = pipelineOf(topic('bids', { keyStyle }));
      assert.equal(reasonOf(pipeline.process(record(value))), reason);
    });
  }
}

test('what an undecodable message held is not in the error that is logged', () => {
  const { pipeline } = pipelineOf(topic('bids'));
  const outcome = pipeline.process(record('secret-token'));
  assert.ok(outcome instanceof Undecodable);
  assert.doesNotMatch(outcome.message, /secret/);
});

test('KEEP leaves keys as they are', () => {
  const { pipeline } = pipelineOf(topic('bids', { keyStyle: 'KEEP', keys: ['auctionId'] }));
  const outcome = pipeline.process(record('{"auctionId":1}'));
  assert.ok(Array.isArray(outcome));
  assert.equal(outcome[1]?.channel, 'p:bids:auctionId=1');
  assert.deepEqual(decodeMessage(outcome[0]?.payload ?? '')?.event, { auctionId: 1 });
});

test('an event older than the limit is skipped and counted, one without a timestamp is not', async () => {
  const { pipeline, metrics } = pipelineOf(topic('bids'), { maxAgeSeconds: 10, now: 20_000 });
  assert.deepEqual(pipeline.process(record('{}', { timestamp: 9_999 })), []);
  assert.equal((pipeline.process(record('{}', { timestamp: 10_000 })) as unknown[]).length, 1);
  assert.equal((pipeline.process(record('{}', { timestamp: -1 })) as unknown[]).length, 1);
  assert.deepEqual((await metrics.staleEvents.get()).values[0]?.value, 1);
});

test("a graph's decode sees value and headers, and may pass a message over", () => {
  const { pipeline } = pipelineOf(
    topic('bids', {
      decode: (value, headers) =>
        value.length === 0 ? null : { text: String(value), headers: JSON.stringify(headers) },
    }),
  );
  assert.deepEqual(pipeline.process(record('')), []);
  const headers = { one: Buffer.from('1'), two: [Buffer.from('2'), '3'] };
  const outcome = pipeline.process(record('x', { headers }));
  assert.ok(Array.isArray(outcome));
  assert.deepEqual(decodeMessage(outcome[0]?.payload ?? '')?.event, {
    text: 'x',
    headers: '{"one":"1","two":["2","3"]}',
  });
});

test("an asynchronous decode's event is awaited, and its keys are renamed", async () => {
  const { pipeline } = pipelineOf(topic('bids', { decode: () => Promise.resolve({ someKey: 1 }) }));
  const outcome = await pipeline.process(record('x'));
  assert.ok(Array.isArray(outcome));
  assert.deepEqual(decodeMessage(outcome[0]?.payload ?? '')?.event, { some_key: 1 });
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
  test(`a decode that ${what} makes the message undecodable (${reason})`, async () => {
    const { pipeline } = pipelineOf(topic('bids', { decode: decode as Topic['decode'] }));
    assert.equal(reasonOf(await pipeline.process(record('x'))), reason);
  });
}

test('what decode gives is not changed, and dates in it become text', () => {
  const shared = Object.freeze({ aList: Object.freeze([{ innerKey: new Date(0) }]) });
  const { pipeline } = pipelineOf(topic('bids', { decode: () => shared as never }));
  const outcome = pipeline.process(record('x'));
  assert.ok(Array.isArray(outcome));
  assert.deepEqual(decodeMessage(outcome[0]?.payload ?? '')?.event, {
    a_list: [{ inner_key: '1970-01-01T00:00:00.000Z' }],
  });
});

function fail(thrown: unknown): never {
  throw thrown;
}

function circle(): unknown {
  const round: Record<string, unknown> = {};
  round['self'] = round;
  return round;
}
