import assert from 'node:assert/strict';
import test from 'node:test';
import { encodeMessage, MessageDecoder } from '../../../src/events/message.ts';

const payloadOf = (n: number, text: string): string =>
  encodeMessage({ v: 1, t: 'bids', p: 0, o: n, ts: 0, in: 0, key: null, event: { n, text } });

const LONG = 'x'.repeat(2_000);

test('copies of a message that come one behind the other are decoded once', () => {
  const decoder = new MessageDecoder();
  for (const copy of [(text: string) => text, (text: string) => Buffer.from(text)]) {
    const first = decoder.decode(copy(payloadOf(1, LONG)), false);
    assert.equal(first?.o, 1);
    assert.equal(decoder.decode(copy(payloadOf(1, LONG)), true), first);
    assert.ok(Object.isFrozen(first?.event));
  }
});

test('another message is decoded, be it as long as the one before, short, or none', () => {
  const decoder = new MessageDecoder();
  const offsets = [
    payloadOf(1, LONG),
    payloadOf(2, LONG),
    payloadOf(3, ''),
    `"${LONG}"`,
    payloadOf(2, LONG),
  ].map((payload) => decoder.decode(Buffer.from(payload), true)?.o);
  assert.deepEqual(offsets, [1, 2, 3, undefined, 2]);
});
