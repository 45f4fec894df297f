import assert from 'node:assert/strict';
import test from 'node:test';
import { DecodeError } from '../../../src/events/decode-error.ts';
import { EventTrace, type IngestStep } from '../../../src/events/trace.ts';
import { consumedOf } from '../../../src/explain/consumed.ts';
import type { Consumed } from '../../../src/explain/explanation.ts';
import { lastEvents } from '../../../src/explain/last-events.ts';
import { recordOf, RecentlyConsumed } from '../../../src/explain/recently-consumed.ts';
import { HeldTime } from './held-time.ts';

function setUp(maxBytes = 1_000_000) {
  const trace = new EventTrace();
  const time = new HeldTime();
  const consumed = new RecentlyConsumed(trace, maxBytes, time.now);
  const take = (...steps: readonly IngestStep[]): void => {
    for (const step of steps) consumed.listener(step);
  };
  const told = (offset = 0): Consumed | undefined => {
    const kept = consumed.of('bids').find(0, offset);
    return kept && consumedOf(recordOf(kept));
  };
  const ofKey = (key: string): number[] =>
    lastEvents(
      { topic: 'bids', partition: undefined, key },
      { consumed: consumed.of('bids'), arrived: [], recorded: [] },
      ['id'],
    ).map(({ offset }) => offset);
  return { trace, time, consumed, take, told, ofKey };
}

const recordAt = (offset: number, key: string | null = 'k') => ({
  topic: 'bids',
  partition: 0,
  offset,
  key: key === null ? null : Buffer.from(key),
});

const routed = (
  offset: number,
  channels: readonly string[],
  { isDecoded = true, key = 'k' as string | null } = {},
): IngestStep => ({
  step: 'routed',
  record: recordAt(offset, key),
  keys: ['id', 'lot'],
  event: isDecoded ? {} : undefined,
  channels,
});

const textsOf = (consumed: Consumed | undefined): string[] =>
  (consumed?.steps ?? []).map(({ step, text }) => `${step}: ${text}`);

test('what was decided on an event is known though nothing was recorded', () => {
  const { take, told } = setUp();
  take(routed(0, ['bids', 'bids:id=7%2F8']), { step: 'unsubscribed', record: recordAt(0) });
  take(routed(1, ['bids', 'bids:lot=a', 'bids:lot=b']), { step: 'published', record: recordAt(1) });
  assert.deepEqual(textsOf(told(0)), [
    'decode: it was decoded',
    'route: by id "7/8", lot null to bids, bids:id=7%2F8',
    'publish: no process had a subscriber of its channels, so it was not published',
  ]);
  assert.deepEqual([told(0)?.at, told(0)?.isPublished], ['2026-07-01T00:00:00.000Z', false]);
  assert.deepEqual(textsOf(told(1)).slice(1), [
    'route: by id null, lot ["a","b"] to bids, bids:lot=a, bids:lot=b',
    'publish: the bus has acknowledged it on its channels that have subscribers',
  ]);
});

test('an event that was routed by its Kafka key has the channels of the event once it is decoded', () => {
  const { consumed, take, told } = setUp();
  take(routed(0, ['bids', 'bids:id=k'], { isDecoded: false }));
  assert.match(textsOf(told())[0] ?? '', /routed by its Kafka key/);
  take(routed(0, ['bids', 'bids:id=l']));
  assert.equal(consumed.of('bids').size, 1);
  assert.deepEqual(told()?.channels, ['bids', 'bids:id=l']);
});

test('an event that is consumed once more is told as it was then', () => {
  const { time, take, told } = setUp();
  for (const offset of [0, 1, 2]) {
    take(routed(offset, ['bids']), { step: 'unsubscribed', record: recordAt(offset) });
  }
  time.advance(1_000);
  for (const offset of [0, 1]) take(routed(offset, ['bids', 'bids:id=7']));
  for (const offset of [0, 1]) take({ step: 'published', record: recordAt(offset) });
  const then = [0, 1, 2].map((offset) => [told(offset)?.at, told(offset)?.isPublished]);
  const again = ['2026-07-01T00:00:01.000Z', true];
  assert.deepEqual(then, [again, again, ['2026-07-01T00:00:00.000Z', false]]);
});

test('dead letters and what was passed over are kept with their reasons; what is of no field is not', () => {
  const { consumed, take, told } = setUp();
  const error = new DecodeError('decode_failed', 'm'.repeat(10_000));
  take({ step: 'undecodable', record: recordAt(0), error });
  take({ step: 'passed_over', record: recordAt(1), reason: 'too_old' });
  take({ step: 'passed_over', record: { ...recordAt(2), topic: 'unknown' }, reason: 'no_field' });
  assert.equal(told(0)?.outcome, 'dead letter');
  assert.ok((textsOf(told(0))[0] ?? '').length < 600);
  assert.deepEqual(textsOf(told(1)), ['decode: it is older than EVENT_MAX_AGE_SECONDS']);
  assert.equal(consumed.of('unknown').size, 0);
});

test('events are found by a value that they are routed by, and by their Kafka keys', () => {
  const { take, ofKey } = setUp();
  take(routed(0, ['bids', 'bids:id=S1'], { key: null }));
  take(routed(1, ['bids', 'bids:lot=S2', 'bids:lot=S%C3%BC'], { key: 'x' }));
  take({ step: 'undecodable', record: recordAt(2, 'Sü'), error: new DecodeError('not_json', 'no {') });
  take(routed(3, ['bids', 'bids:id=id%3DS1'], { key: 'k'.repeat(257) }));
  assert.deepEqual([ofKey('S1'), ofKey('x'), ofKey('Sü'), ofKey('id=S1')], [[0], [1], [2, 1], [3]]);
  assert.deepEqual([ofKey('S'), ofKey('k'.repeat(257)), ofKey('bids')], [[], [], []]);
});

test('channels of an event that take more than the room of its topic are not kept, and not guessed', () => {
  const { consumed, take, told } = setUp(20_000);
  take(routed(0, ['bids', 'bids:id=7']));
  take(routed(1, ['bids', ...Array.from({ length: 900 }, (_, index) => `bids:id=${index}`)]));
  assert.equal(consumed.of('bids').size, 2);
  assert.deepEqual([told(1)?.outcome, told(1)?.channels], ['routed', null]);
  assert.equal(textsOf(told(1))[1], 'route: to more channels than are kept of the last events');
});

test('steps are handed on to who listens', () => {
  const { trace, take, consumed } = setUp();
  const heard: unknown[] = [];
  const stop = trace.listen((step) => heard.push(step));
  const step = routed(0, ['bids']);
  take(step);
  stop();
  take(routed(1, ['bids']));
  assert.deepEqual(heard, [step]);
  assert.equal(consumed.of('bids').size, 2);
});
