import assert from 'node:assert/strict';
import test from 'node:test';
import { HeldEvents, type HeldEvent, type ThrottledEvent } from '../../../../src/hub/throttle/held-events.ts';
import { range } from '../../../helpers/numbers.ts';
import { FakeSubscriber } from '../parts.ts';

const event = (n: number) =>
  ({ message: { event: { n } }, scope: {}, bytes: 1, isRecorded: false }) as unknown as ThrottledEvent;

const numberOf = ({ message }: HeldEvent): unknown => message.event['n'];

test('an event goes with a viewer to values of which another one was held, when none had them', () => {
  const held = new HeldEvents(() => undefined);
  const carol = new FakeSubscriber();
  held.add(event(1), 'key', ['from', 'to']);
  // The last subscriber with these values has left.
  held.joined(carol);
  held.add(event(2), 'key', ['from']);
  held.moved('from', 'to', () => true);
  const due = held.events.map((some) => {
    const { subscribers } = held.recipientsOf(some, {
      buckets: [{ values: 'to', subscribers: new Set([carol]) }],
    });
    return [numberOf(some), subscribers.has(carol)];
  });
  assert.deepEqual(due, [[2, true]]);
});

test('65,536 slots are all that may be held, however few events there are', () => {
  const held = new HeldEvents(() => undefined);
  held.add(event(1), 'key', range(1, 65_536).map(String));
  assert.equal(held.isFull(10), false);
  held.add(event(2), 'other', ['0']);
  assert.equal(held.isFull(10), true);
});
