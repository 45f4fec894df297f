import assert from 'node:assert/strict';
import test from 'node:test';
import { EventTrace } from '../../../src/events/trace.ts';
import type { WatchedConnection } from '../../../src/explain/watch.ts';
import { Watches } from '../../../src/explain/watches.ts';
import { HeldTime } from './held-time.ts';

const TEN_MINUTES = 600_000;

const connection = (id: string): WatchedConnection => ({
  id,
  openedAt: 0,
  viewer: {},
  sendQueue: { slowSince: undefined, waitingBytes: 0 },
});

function setUp() {
  const trace = new EventTrace();
  const time = new HeldTime();
  const watches = new Watches({ trace, timers: time, now: time.now });
  /** This process consumes an event, which is for no field. */
  const consume = (offset: number, topic = 'bids'): void =>
    trace.listener?.({
      step: 'passed_over',
      record: { topic, partition: 0, offset, key: null },
      reason: 'tombstone',
    });
  return { trace, time, watches, consume };
}

test('a watch keeps the last 1,000 events of its topic, and none of another', () => {
  const { watches, consume } = setUp();
  const watch = watches.of(connection('1'), 'bids');
  for (let offset = 0; offset < 1_001; offset += 1) {
    consume(offset);
    consume(offset, 'sales');
  }
  const kept = (offset: number, topic = 'bids'): boolean =>
    watch.find({ topic, partition: 0, offset }) !== undefined;
  assert.equal(watch.size, 1_000);
  assert.deepEqual([kept(0), kept(1), kept(1_000), kept(1_000, 'sales')], [false, true, true, false]);
});

test('the eleventh watch takes the place of the one that was asked for longest ago', () => {
  const { watches, consume } = setUp();
  const connections = Array.from({ length: 10 }, (_, index) => connection(`${index}`));
  const first = connections.map((one) => watches.of(one, 'bids'));
  assert.equal(watches.of(connections[0], 'bids'), first[0]);
  watches.of(connection('eleventh'), 'bids');
  consume(7);
  const sizes = first.map(({ size }) => size);
  assert.deepEqual(sizes, [1, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
  assert.notEqual(watches.of(connections[1], 'bids'), first[1]);
});

test('a connection has a watch for each topic that it is asked about, and the process one of its own', () => {
  const { watches } = setUp();
  const one = connection('1');
  const bids = watches.of(one, 'bids');
  assert.notEqual(watches.of(one, 'sales'), bids);
  assert.notEqual(watches.of(undefined, 'bids'), bids);
  assert.notEqual(watches.of(connection('2'), 'bids'), bids);
  assert.equal(watches.of(one, 'bids'), bids);
});

test('a watch ends ten minutes after it was last asked for, and no step is told to it any more', () => {
  const { trace, time, watches, consume } = setUp();
  const one = connection('1');
  const watch = watches.of(one, 'bids');
  time.advance(TEN_MINUTES - 1);
  assert.equal(watches.of(one, 'bids'), watch);
  assert.equal(watch.until, time.now() + TEN_MINUTES);
  time.advance(TEN_MINUTES - 1);
  consume(0);
  assert.equal(watch.size, 1);
  time.advance(1);
  consume(1);
  assert.equal(watch.size, 1);
  assert.notEqual(watches.of(one, 'bids'), watch);
  assert.notEqual(trace.listener, undefined);
});

test('no listener is installed before the first watch, nor after the last one has ended', () => {
  const { trace, time, watches } = setUp();
  assert.equal(trace.listener, undefined);
  watches.of(connection('1'), 'bids');
  time.advance(1_000);
  watches.of(connection('2'), 'bids');
  assert.notEqual(trace.listener, undefined);
  time.advance(TEN_MINUTES - 1_000);
  assert.notEqual(trace.listener, undefined);
  time.advance(1_000);
  assert.equal(trace.listener, undefined);
  assert.equal(time.pending, 0);
});

test('a watch that has given way leaves neither a listener nor a timer behind', () => {
  const { trace, time, watches } = setUp();
  for (let index = 0; index < 25; index += 1) watches.of(connection(`${index}`), 'bids');
  assert.equal(time.pending, 10);
  time.advance(TEN_MINUTES);
  assert.deepEqual([trace.listener, time.pending], [undefined, 0]);
});
