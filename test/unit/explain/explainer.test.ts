import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DecodeError } from '../../../src/events/decode-error.ts';
import type { Message } from '../../../src/events/message.ts';
import { EventTrace, type HubStep, type IngestStep } from '../../../src/events/trace.ts';
import { Explainer } from '../../../src/explain/explainer.ts';
import type { ExplainedSubscription, SubscriptionExplanation } from '../../../src/explain/explanation.ts';
import type { WatchedConnection } from '../../../src/explain/watch.ts';
import { range } from '../../helpers/numbers.ts';
import { HeldTime } from './held-time.ts';

const TOPIC = 'bids';
const CHANNEL = 'sluice:bids';
const MINUTE = 60_000;

const plan: ExplainedSubscription['plan'] = {
  field: 'bid',
  topic: TOPIC,
  channels: [CHANNEL],
  variables: {},
  filter: undefined,
  operation: { name: 'Watch' },
};

const placeOf = (offset: number) => ({ topic: TOPIC, partition: 0, offset });

/** A process with connections named by their ids, each with one subscription. */
function setUp(more: Partial<ExplainedSubscription['plan']> = {}) {
  const trace = new EventTrace();
  const time = new HeldTime();
  const connections = new Map<string, WatchedConnection & { sendQueue: { isSlow: boolean } }>();
  const subscription: ExplainedSubscription = { plan: { ...plan, ...more } };
  const explainer = new Explainer({
    trace,
    connectionOf: (id) => connections.get(id),
    subscriptionsOf: () => [subscription],
    timers: time,
    now: time.now,
  });
  const connect = (id: string): object => {
    const connection = { id, viewer: { id: 'ann' }, sendQueue: { isSlow: false, waitingBytes: 0 } };
    connections.set(id, connection);
    return { owner: connection };
  };
  /** Tells of a step, if it is asked for. */
  const tell = (step: IngestStep | HubStep): void => trace.listener?.(step);
  const group = subscription.plan;
  const inHub = (offset: number) => ({
    message: { t: TOPIC, p: 0, o: offset, event: { n: 1 } } as unknown as Message,
    group,
  });
  const explain = (id: string, offset: number): SubscriptionExplanation | undefined =>
    explainer.explain(id, placeOf(offset))?.subscriptions[0];
  return { trace, time, explainer, connections, connect, tell, inHub, explain };
}

const routed = (offset: number, channels = [CHANNEL]): IngestStep => ({
  step: 'routed',
  record: { ...placeOf(offset), key: null },
  keys: ['id'],
  event: { id: 7 },
  channels,
});

describe('Explainer', () => {
  it('listens to no events until it is asked, and no more ten minutes after the last question', () => {
    const { trace, time, connect, explain, tell } = setUp();
    assert.equal(trace.listener, undefined);
    connect('a');
    explain('a', 0);
    assert.notEqual(trace.listener, undefined);
    time.advance(9 * MINUTE);
    explain('a', 0);
    time.advance(9 * MINUTE);
    tell(routed(0));
    assert.notEqual(trace.listener, undefined);
    time.advance(MINUTE);
    assert.equal(trace.listener, undefined);
  });

  it('knows nothing of a connection that is not there', () => {
    const { trace, explainer } = setUp();
    assert.equal(explainer.explain('a', placeOf(0)), undefined);
    assert.equal(trace.listener, undefined);
  });

  it('watches ten connections, of which that gives way that was asked about least recently', () => {
    const { connect, explain, tell } = setUp();
    const ids = range(0, 11).map((n) => `${n}`);
    ids.forEach(connect);
    for (const id of [...ids.slice(0, 10), '0', '10']) explain(id, 0);
    tell(routed(0, ['another']));
    assert.equal(explain('0', 0)?.verdict, 'other channel');
    assert.equal(explain('10', 0)?.verdict, 'other channel');
    assert.equal(explain('1', 0)?.verdict, 'not recorded');
  });

  it('keeps the last thousand events', () => {
    const { connect, explain, explainer, tell } = setUp();
    connect('a');
    explain('a', 0);
    for (const offset of range(0, 1_001)) tell(routed(offset, ['another']));
    assert.equal(explainer.explain('a', placeOf(0))?.recording.events, 1_000);
    assert.equal(explain('a', 0)?.verdict, 'not recorded');
    assert.equal(explain('a', 1)?.verdict, 'other channel');
  });

  it('tells how an event was consumed, for a connection of another process too', () => {
    const { explainer, tell } = setUp();
    const asked = (offset: number) => explainer.explain(undefined, placeOf(offset));
    assert.deepEqual(asked(0)?.consumed, null);
    const record = { ...placeOf(0), key: null };
    tell(routed(0));
    const way = 'routed by {"id":7} to sluice:bids';
    assert.deepEqual(asked(0)?.consumed, { verdict: 'under way', because: [way] });
    tell({ step: 'published', record });
    assert.deepEqual(asked(0)?.consumed, { verdict: 'published', because: [way] });
    tell({ step: 'unsubscribed', record });
    assert.deepEqual(asked(0)?.consumed, {
      verdict: 'not published',
      because: [way, 'no process had a subscriber of its channels'],
    });
    tell({
      step: 'undecodable',
      record: { ...record, offset: 1 },
      error: new DecodeError('not_json', 'no {'),
    });
    assert.deepEqual(asked(1)?.consumed, { verdict: 'dead letter', because: ['not_json: no {'] });
    tell({ step: 'passed_over', record: { ...record, offset: 2 }, reason: 'tombstone' });
    assert.deepEqual(asked(2)?.consumed, { verdict: 'passed over', because: ['tombstone'] });
    assert.deepEqual(asked(2)?.subscriptions, []);
  });

  it('names what a result has read, and how many share it', () => {
    const { connect, explain, tell, inHub } = setUp();
    const [own, other] = [connect('a'), connect('b')];
    explain('a', 0);
    const both = new Set([own, other]);
    tell({ step: 'dispatched', subscribers: both, passing: both, isReplay: false, ...inHub(0) });
    assert.equal(explain('a', 0)?.verdict, 'under way');
    tell({ step: 'executed', errors: undefined, ...inHub(0) });
    tell({ step: 'settled', subscribers: both, reads: { paths: ['org.id', 'role'] }, ...inHub(0) });
    const { verdict, because } = explain('a', 0) as SubscriptionExplanation;
    assert.equal(verdict, 'delivered');
    assert.equal(because[1], "its result is shared by 2 subscribers; it has read the viewer's org.id, role");
    assert.equal(because.at(-1), 'written at the end of that turn');
  });

  it('tells an event that found too many before it from one that a slow client did not get', () => {
    const { connect, connections, explain, tell, inHub } = setUp({ delivery: { onSlow: 'DROP_OLDEST' } });
    const own = new Set([connect('a')]);
    explain('a', 0);
    for (const offset of [0, 1]) {
      tell({ step: 'dispatched', subscribers: own, passing: own, isReplay: false, ...inHub(offset) });
    }
    tell({ step: 'ended', ...inHub(0) });
    assert.equal(explain('a', 0)?.verdict, 'skipped for slowness');
    assert.match(explain('a', 0)?.because.at(-1) ?? '', /MAX_WAITING_EVENTS/);
    const { sendQueue } = connections.get('a') as { sendQueue: object };
    Object.assign(sendQueue, { isSlow: true, waitingBytes: 99 });
    tell({ step: 'settled', subscribers: own, reads: { paths: [] }, ...inHub(1) });
    assert.equal(explain('a', 1)?.verdict, 'skipped for slowness');
    assert.match(explain('a', 1)?.because.at(-1) ?? '', /99 bytes waiting: by DROP_OLDEST/);
  });

  it('tells two operations apart that have the same field and variables', () => {
    const { connect, explain, tell, inHub } = setUp();
    const own = new Set([connect('a')]);
    explain('a', 0);
    const other = { ...inHub(0), group: { ...plan } };
    tell({ step: 'dispatched', subscribers: own, passing: new Set(), isReplay: false, ...other });
    tell({ step: 'dispatched', subscribers: own, passing: own, isReplay: false, ...inHub(0) });
    assert.equal(explain('a', 0)?.verdict, 'under way');
  });

  it('tells a viewer that may not see an event from one that has filtered it out', () => {
    for (const [directive, verdict, because] of [
      ['@auth', 'unauthorised', '@auth: a text'],
      ['@filter', 'filtered out', 'a text'],
    ] as const) {
      const filter = { compared: () => ({ directive, texts: ['a text'] }) };
      const { connect, explain, tell, inHub } = setUp({ filter });
      const own = new Set([connect('a')]);
      explain('a', 0);
      tell({ step: 'dispatched', subscribers: own, passing: new Set(), isReplay: false, ...inHub(0) });
      assert.deepEqual([explain('a', 0)?.verdict, explain('a', 0)?.because], [verdict, [because]]);
    }
  });
});
