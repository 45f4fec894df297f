import assert from 'node:assert/strict';
import test from 'node:test';
// @ts-expect-error its types leave it out; ws exports it
import { Receiver } from 'ws';
import { frameSuffix } from '../../../src/hub/frame.ts';
import { Payload } from '../../../src/hub/payload.ts';

/** What a client's WebSocket makes of bytes, by ws's own parser. */
function received(bytes: Buffer): string[] {
  const messages: string[] = [];
  const receiver = new Receiver({ isServer: false, allowSynchronousEvents: true });
  receiver.on('message', (data: Buffer, isBinary: boolean) => {
    assert.equal(isBinary, false);
    messages.push(data.toString());
  });
  receiver.on('error', (error: Error) => assert.fail(error));
  receiver.write(bytes);
  return messages;
}

for (const length of [0, 1, 60, 80, 90, 125, 126, 65_000, 65_465, 65_466, 65_467, 65_535, 65_536, 200_000]) {
  test(`a result of about ${length} bytes arrives as the next message of its subscription`, () => {
    const result = { data: { text: 'x'.repeat(length) } };
    const suffix = frameSuffix('1');
    const frame = Buffer.concat([new Payload(result).prefixFor(suffix.length), suffix]);
    assert.deepEqual(
      received(frame).map((text) => JSON.parse(text)),
      [{ id: '1', type: 'next', payload: result }],
    );
  });
}

test('ids of any text are kept, and those that take equally many bytes share the other part', () => {
  const payload = new Payload({ data: { a: 'ü€😀' } });
  const ids = ['aé', 'abc', '"q', '', '\u2028', 'toString'];
  const frames = ids.map((id) => Buffer.concat([payload.prefixFor(frameSuffix(id).length), frameSuffix(id)]));
  assert.deepEqual(
    received(Buffer.concat(frames)).map((text) => JSON.parse(text).id),
    ids,
  );
  assert.equal(payload.prefixFor(frameSuffix('aé').length), payload.prefixFor(frameSuffix('abc').length));
});

test('a result that JSON has no word for becomes an error, not an exception', () => {
  const payload = new Payload({ data: { big: 1n } });
  assert.equal(JSON.parse(payload.json.toString()).errors[0].extensions.code, 'UNSERIALISABLE_RESULT');
});
