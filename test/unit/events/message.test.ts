import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeMessage, encodeMessage, MessageDecoder } from '../../../src/events/message.ts';

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

const BEFORE =
  '{"v":1,"t":"bids","id":"A","p":2,"o":41,"ts":5,"in":6,"key":"7","event":{"n":1},"h":["e1",9]}';
const NOW =
  '{"v":1,"t":"bids","id":"A","p":2,"o":41,"e":3,"ts":5,"in":6,"key":"7","event":{"n":1},"h":["e1",9]}';

test('a message of the version before is read without a leader epoch, and one of today is the same but for that field', () => {
  const before = decodeMessage(BEFORE);
  assert.ok(before);
  assert.equal(before.e, undefined);
  assert.equal(encodeMessage(before), BEFORE);
  assert.equal(encodeMessage({ ...JSON.parse(NOW), e: 3 }), NOW);
  assert.deepEqual(decodeMessage(NOW), { ...before, e: 3 });
});
