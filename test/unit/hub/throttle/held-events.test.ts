import assert from 'node:assert/strict';
import test from 'node:test';
import type { EventScope } from '../../../../src/context/event-scope.ts';
import { HeldEvents, type ThrottledEvent } from '../../../../src/hub/throttle/held-events.ts';
import { FakeSubscriber } from '../parts.ts';

const MAX_ENTRIES = 65_536;

function eventOf(bytes: number): ThrottledEvent {
  const message = { v: 1, t: 'bids', p: 0, o: 0, ts: 0, in: 0, key: null, event: {} } as const;
  return { message, scope: {} as EventScope, bytes, isRecorded: false };
}

function setUp() {
  let bytes = 0;
  const held = new HeldEvents((more) => (bytes += more));
  return { held, bytes: () => bytes };
}

test('subscribers that join between events without end fill the interval', () => {
  const { held, bytes } = setUp();
  const ann = new FakeSubscriber();
  for (let n = 1; n < MAX_ENTRIES; n += 1) {
    const other = new FakeSubscriber();
    held.joined(other);
    held.add(eventOf(100), 'a', ['']);
    held.left(other);
    if (n === 1_000) held.joined(ann);
  }
  assert.equal(held.isFull(10), false);
  held.joined(new FakeSubscriber());
  held.add(eventOf(100), 'a', ['']);
  assert.equal(held.isFull(10), true);
  assert.ok(bytes() > MAX_ENTRIES * 32, 'what is noted of them counts');
  const [latest] = held.events;
  assert.ok(latest !== undefined && held.events.length === 1);
  const bob = new FakeSubscriber();
  const { leftOut } = held.recipientsOf(latest, {
    buckets: [{ values: '', subscribers: new Set([ann, bob]) }],
  });
  assert.equal(leftOut.of(bob), MAX_ENTRIES - 1);
  assert.equal(leftOut.of(ann), MAX_ENTRIES - 1_001);
});

test('values of viewers without end fill the interval', () => {
  const { held } = setUp();
  const values = Array.from({ length: MAX_ENTRIES / 4 }, (_, value) => `${value}`);
  for (const key of 'abc') held.add(eventOf(100), key, values);
  assert.equal(held.isFull(10), false);
  held.add(eventOf(100), 'd', values);
  assert.equal(held.isFull(10), true);
});

test('an event is held until it is superseded for all values that it passed for', () => {
  const { held, bytes } = setUp();
  held.add(eventOf(10_000), 'a', ['buyer', 'seller']);
  held.add(eventOf(10_000), 'a', ['buyer']);
  assert.equal(held.events.length, 2);
  assert.ok(bytes() > 2 * 10_000);
  held.add(eventOf(10_000), 'a', ['seller']);
  assert.equal(held.events.length, 2);
  assert.ok(bytes() < 3 * 10_000);
  held.release();
  assert.equal(bytes(), 0);
});
