import assert from 'node:assert/strict';
import test from 'node:test';
import { DecodeError } from '../../../src/events/decode-error.ts';
import { EventTrace, type IngestStep } from '../../../src/events/trace.ts';
import { Explainer } from '../../../src/explain/explainer.ts';
import type { Consumed } from '../../../src/explain/explanation.ts';
import { RecentlyArrived } from '../../../src/explain/recently-arrived.ts';
import { RecentlyConsumed } from '../../../src/explain/recently-consumed.ts';
import { topic, topics } from '../ingest/parts.ts';
import { HeldTime } from './held-time.ts';

const PLACE = { topic: 'bids', partition: 0, offset: 0 };
const record = { ...PLACE, key: Buffer.from('k') };

/** What a process that has met these steps tells of the event, without a connection. */
function toldOf(...steps: readonly IngestStep[]): Consumed {
  const trace = new EventTrace();
  const time = new HeldTime();
  const explainer = new Explainer({
    trace,
    timers: time,
    now: time.now,
    connectionOf: () => undefined,
    subscriptionsOf: () => [],
    refusedOf: () => [],
    consumed: new RecentlyConsumed(trace, 0, time.now),
    arrived: new RecentlyArrived(0, time.now),
    topics: () => topics(topic('bids')),
  });
  assert.equal(explainer.explain(undefined, PLACE)?.consumed, null);
  for (const step of steps) trace.listener?.(step);
  const consumed = explainer.explain(undefined, PLACE)?.consumed;
  assert.ok(consumed);
  assert.equal(consumed.at, '2026-07-01T00:00:00.000Z');
  return consumed;
}

const textsOf = ({ steps }: Consumed): string[] => steps.map(({ step, text }) => `${step}: ${text}`);

const routed = (event: { readonly id?: string } | undefined, channels: readonly string[]): IngestStep => ({
  step: 'routed',
  record,
  keys: ['id'],
  event,
  channels,
});

test('an event is routed by its fields, and published where it has subscribers', () => {
  const way = routed({ id: '7' }, ['bids', 'bids:id=7']);
  const open = toldOf(way);
  assert.deepEqual([open.outcome, open.isPublished, open.channels], ['routed', null, ['bids', 'bids:id=7']]);
  assert.deepEqual(textsOf(open), [
    'decode: it was decoded',
    'route: by id "7" to bids, bids:id=7',
    'publish: the bus has not acknowledged it yet',
  ]);
  const published = toldOf(way, { step: 'published', record });
  assert.equal(published.isPublished, true);
  const acknowledged = 'publish: the bus has acknowledged it on its channels that have subscribers';
  assert.equal(textsOf(published)[2], acknowledged);
  const unsubscribed = toldOf(way, { step: 'unsubscribed', record });
  assert.equal(unsubscribed.isPublished, false);
  const nobody = 'publish: no process had a subscriber of its channels, so it was not published';
  assert.equal(textsOf(unsubscribed)[2], nobody);
});

test('an event without its field, or routed by its Kafka key, is told as such', () => {
  assert.equal(textsOf(toldOf(routed({}, ['bids'])))[1], 'route: by id null to bids');
  assert.deepEqual(textsOf(toldOf(routed(undefined, ['bids', 'bids:id=k']))).slice(0, 2), [
    'decode: it was routed by its Kafka key, and is decoded only if it is published',
    'route: by id "k" to bids, bids:id=k',
  ]);
});

test('of many channels the first five are named', () => {
  const channels = Array.from({ length: 7 }, (_, index) => `c${index}`);
  const [, route] = textsOf(toldOf(routed({ id: '7' }, channels)));
  assert.equal(route, 'route: by id "7" to c0, c1, c2, c3, c4 and 2 more');
});

test('what is no event is told as a dead letter or as passed over, with the reason', () => {
  const letter = toldOf({ step: 'undecodable', record, error: new DecodeError('not_json', 'no {') });
  assert.deepEqual([letter.outcome, letter.channels], ['dead letter', []]);
  assert.deepEqual(textsOf(letter), ['decode: it could not be decoded: not_json, no {']);
  const passed = toldOf({ step: 'passed_over', record, reason: 'too_old' });
  assert.equal(passed.outcome, 'passed over');
  assert.deepEqual(textsOf(passed), ['decode: it is older than EVENT_MAX_AGE_SECONDS']);
});
