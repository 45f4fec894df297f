import assert from 'node:assert/strict';
import test from 'node:test';
// @ts-expect-error its types leave it out; ws exports it
import { Receiver } from 'ws';
import { writeId } from '../../../../src/transports/delivery/frame-format.ts';
import { idText, messagesIn, NEXT_FRAMES } from '../../../../src/transports/websocket/frame.ts';
import { SerializedResult } from '../../../../src/hub/result.ts';

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

/** A frame as it is written among others, behind so many bytes. */
function written(result: SerializedResult, id: string, behind = 0): Buffer {
  const text = idText(id);
  const bytes = Buffer.alloc(behind + NEXT_FRAMES.length(result, text.length));
  writeId(bytes, NEXT_FRAMES.write(bytes, behind, result, text.length), text);
  return bytes.subarray(behind);
}

const LENGTHS = [0, 80, 90, 125, 126, 65_465, 65_466, 65_467, 65_535, 65_536, 200_000];

for (const length of LENGTHS) {
  test(`a result of about ${length} bytes arrives as the next message of its subscription`, () => {
    const result = { data: { text: 'x'.repeat(length) } };
    const payload = new SerializedResult(result);
    const frame = written(payload, '1', 7);
    const messages = received(frame).map((text) => JSON.parse(text));
    assert.deepEqual(messages, [{ id: '1', type: 'next', payload: result }]);
    assert.deepEqual(Buffer.concat(NEXT_FRAMES.pieces(payload, '1')), frame);
  });
}

test('ids of any text are kept, in ASCII', () => {
  const payload = new SerializedResult({ data: { a: 'ü€😀' } });
  const ids = ['aé', 'abc', '"q', '\\', '', '\u2028', '\u007f\u0000\n', '\ud800', '😀', '-_~ !#[]'];
  const messages = received(Buffer.concat(ids.map((id) => written(payload, id))));
  assert.deepEqual(
    messages.map((text) => JSON.parse(text).id),
    ids,
  );
  for (const id of ids) assert.match(idText(id), /^[ -~]*$/);
});

test('an id that needs no escapes is kept as it is, and takes no memory of its own', () => {
  assert.equal(idText('5c1b1f0e-8f3e-4b53-9f0a-3d2a8c0f9a77'), '5c1b1f0e-8f3e-4b53-9f0a-3d2a8c0f9a77');
});

test('a client reads whole frames as their messages', () => {
  const results = LENGTHS.map((length) => new SerializedResult({ data: { text: 'x'.repeat(length) } }));
  const bytes = Buffer.concat(results.map((payload, index) => written(payload, String(index))));
  const messages = Array.from(messagesIn(bytes), (message) => message.toString());
  assert.deepEqual(messages, received(bytes));
});

test('a result that has no JSON becomes an error result, not an exception', () => {
  const payload = new SerializedResult({ data: { big: 1n } });
  assert.equal(JSON.parse(payload.json.toString()).errors[0].extensions.code, 'UNSERIALISABLE_RESULT');
});
