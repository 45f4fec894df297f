import assert from 'node:assert/strict';
import test from 'node:test';
import type {
  Consumed,
  Explanation,
  SubscriptionExplanation,
  Verdict,
} from '../../../src/explain/explanation.ts';
import { merged, type Answer } from '../../../src/explain/merged.ts';

const SINCE = '2026-07-01T12:00:00.000Z';
const AT = '2026-07-01T12:00:01.000Z';

const routed = (more: Partial<Consumed> = {}): Consumed => ({
  at: AT,
  outcome: 'routed',
  channels: ['bids', 'bids:id=7'],
  isPublished: true,
  steps: [{ step: 'decode', text: 'it was decoded' }],
  ...more,
});

const subscription = (verdict: Verdict): SubscriptionExplanation => ({
  field: 'bid',
  operation: null,
  variables: {},
  topic: 'bids',
  channels: ['bids:id=7'],
  verdict,
  steps: [{ step: 'own', text: 'as the holder says' }],
});

const kept = (since: string): Explanation['kept'] => ({
  consumed: { since, events: 0 },
  arrived: { since, events: 0 },
});

function answer(process: string, more: Partial<Explanation> = {}): Answer {
  const explanation = {
    connection: null,
    opened: null,
    event: { topic: 'bids', partition: 0, offset: 1 },
    recording: { since: SINCE, until: SINCE, events: 0 },
    kept: kept(SINCE),
    consumed: null,
    subscriptions: [],
    ...more,
  };
  return { process, explanation };
}

/** What is said of one subscription if another process has consumed the event so. */
function saidOf(verdict: Verdict, consumed: Consumed, since = SINCE): readonly string[] {
  const holder = answer('b', {
    connection: '4',
    recording: { since, until: SINCE, events: 1 },
    kept: kept(since),
    subscriptions: [subscription(verdict)],
  });
  const { subscriptions } = merged(holder, [answer('c'), answer('a', { consumed })]);
  return subscriptions.map((one) => [one.verdict, ...one.steps.map(({ text }) => text)].join(' | '));
}

test('how it was routed is told from the process that has consumed it, the rest from the one with the connection', () => {
  const holder = answer('b', { connection: '4', subscriptions: [subscription('delivered')] });
  const all = merged(holder, [answer('a', { consumed: routed() }), answer('c')]);
  assert.deepEqual([all.connection, all.consumedBy, all.consumed], ['4', 'a', routed()]);
  assert.deepEqual(all.subscriptions, [subscription('delivered')]);
  const recording = all.recordings.map(({ process }) => process);
  assert.deepEqual(recording, ['b', 'a', 'c']);
});

test('an event that has not come to the process is explained by who has consumed it', () => {
  const listens = 'bid listens to bids:id=7';
  const lost = `did not reach this process | ${listens} | it was published, and has not come over a channel of this subscription`;
  for (const [verdict, consumed, expected] of [
    ['not recorded', { channels: ['bids', 'bids:id=8'] }, `other channel | ${listens}`],
    ['not recorded', { isPublished: false }, `not published | ${listens}`],
    ['not recorded', { isPublished: null }, `under way | ${listens}`],
    ['not recorded', { outcome: 'dead letter', channels: [] }, 'dead letter'],
    ['not recorded', { outcome: 'passed over', channels: [] }, 'passed over'],
    ['not recorded', {}, lost],
    ['other channel', {}, lost],
  ] as const) {
    assert.deepEqual(saidOf(verdict, routed(consumed)), [expected]);
  }
});

test('what was consumed before the process with the connection recorded is not taken for lost', () => {
  const later = '2026-07-01T12:30:00.000Z';
  assert.deepEqual(saidOf('not recorded', routed(), later), [
    `not recorded | the process that holds the connection records since ${later} only`,
  ]);
  assert.deepEqual(saidOf('not recorded', routed({ channels: ['bids'] }), later), [
    'other channel | bid listens to bids:id=7',
  ]);
});

test('verdicts of what has come to the process stay as they are', () => {
  for (const verdict of ['filtered out', 'other topic', 'unauthorised', 'delivered'] as const) {
    assert.deepEqual(saidOf(verdict, routed({ isPublished: null })), [`${verdict} | as the holder says`]);
  }
});

test('of an event that two processes have consumed the later one counts; of none, nothing is told', () => {
  const early = answer('a', { consumed: routed() });
  const late = answer('c', { consumed: routed({ at: '2026-07-01T12:00:09.000Z' }) });
  assert.equal(merged(answer('b'), [early, late]).consumedBy, 'c');
  assert.equal(merged(answer('b'), [late, early]).consumedBy, 'c');
  const none = merged(answer('b', { subscriptions: [subscription('not recorded')] }), [answer('a')]);
  assert.deepEqual([none.consumed, none.consumedBy], [null, null]);
  assert.deepEqual(none.subscriptions, [subscription('not recorded')]);
});
