import assert from 'node:assert/strict';
import test from 'node:test';
import type { Message } from '../../../src/events/message.ts';
import { messageOf, RecentlyArrived } from '../../../src/explain/recently-arrived.ts';
import { HeldTime } from './held-time.ts';

const message = (o: number, more: Partial<Message> = {}): Message => ({
  v: 1,
  t: 'bids',
  p: 0,
  o,
  ts: 1,
  in: 1,
  key: null,
  event: { name: 'Zoë ✓' },
  ...more,
});

const setUp = (maxBytes = 1_000_000): RecentlyArrived => new RecentlyArrived(maxBytes, new HeldTime().now);

for (const [kind, payloadOf] of [
  ['text', (text: string) => text],
  ['bytes', (text: string) => Buffer.from(text)],
] as const) {
  test(`a message that came as ${kind} is kept as it was then`, () => {
    const arrived = setUp();
    const payload = payloadOf(JSON.stringify(message(1)));
    arrived.add(message(1), 'bids', payload);
    // A socket reads into the same buffer again.
    if (typeof payload !== 'string') payload.fill(0);
    const kept = arrived.of('bids').find(0, 1);
    assert.deepEqual(kept && messageOf(kept), message(1));
  });
}

test('a message that several channels carry is kept once, with all of them', () => {
  const arrived = setUp();
  for (const channel of ['bids', 'bids:id=7']) arrived.add(message(1), channel, '{}');
  assert.equal(arrived.of('bids').size, 1);
  assert.deepEqual(arrived.of('bids').find(0, 1)?.channels, ['bids', 'bids:id=7']);
});

test('the same offset of a topic that was made anew is another event', () => {
  const arrived = setUp();
  arrived.add(message(1), 'bids', 'old');
  arrived.add(message(1, { in: 2 }), 'bids:id=7', 'new');
  const kept = arrived.of('bids').find(0, 1);
  assert.deepEqual([kept?.payload, kept?.channels], ['new', ['bids:id=7']]);
});

test('a payload that takes more than the room of its topic is not kept, that it came is', () => {
  const arrived = setUp(1_000);
  arrived.add(message(1), 'bids', Buffer.alloc(700));
  arrived.add(message(2), 'bids', Buffer.alloc(900));
  const kept = arrived.of('bids').find(0, 2);
  assert.deepEqual([kept?.payload, kept?.channels], [null, ['bids']]);
  assert.equal(kept && messageOf(kept), undefined);
});
