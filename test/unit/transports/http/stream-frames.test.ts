import assert from 'node:assert/strict';
import test from 'node:test';
import type { FrameFormat } from '../../../../src/transports/delivery/frame-format.ts';
import { ChunkedFrames, chunkOf } from '../../../../src/transports/http/response-sink.ts';
import { EVENT_STREAM } from '../../../../src/transports/http/event-stream.ts';
import { MULTIPART } from '../../../../src/transports/http/multipart.ts';
import { SerializedResult } from '../../../../src/hub/result.ts';

/** A frame among others, behind so many bytes. */
function written(format: FrameFormat, result: SerializedResult, behind = 7): string {
  const bytes = Buffer.alloc(behind + format.length(result, 0) + 5, 1);
  format.write(bytes, behind, result, 0);
  assert.deepEqual(bytes.subarray(0, behind), Buffer.alloc(behind, 1));
  assert.deepEqual(bytes.subarray(-5), Buffer.alloc(5, 1));
  const frame = bytes.subarray(behind, -5);
  assert.deepEqual(Buffer.concat(format.pieces(result, '')), frame);
  return frame.toString();
}

const data = { said: 'ü €' };

test('an event of the stream has the result, and the cursor of an event that is kept as its id', () => {
  const json = '{"data":{"said":"ü €"}}';
  const { format } = EVENT_STREAM;
  assert.equal(written(format, new SerializedResult({ data })), `event: next\ndata: ${json}\n\n`);
  const kept = new SerializedResult({ data }, ['epoch', 71]);
  assert.equal(written(format, kept), `event: next\nid: 1.epoch.1z\ndata: ${json}\n\n`);
  // One that tells more than the event's result is of the same event.
  const telling = written(format, kept.telling(2, true));
  assert.match(telling, /^event: next\nid: 1\.epoch\.1z\ndata: .*"skipped":2/);
});

test('a part ends with the delimiter, so that a reader need not wait for the next one', () => {
  assert.equal(
    written(MULTIPART.format, new SerializedResult({ data })),
    '\r\ncontent-type: application/json\r\n\r\n{"payload":{"data":{"said":"ü €"}}}\r\n--graphql',
  );
});

for (const length of [0, 1, 230, 255, 256, 4_000, 4_096, 65_535, 65_536, 20_000_000]) {
  test(`a chunk of about ${length} bytes tells its length`, () => {
    for (const { format } of [EVENT_STREAM, MULTIPART]) {
      const result = new SerializedResult({ data: { text: 'x'.repeat(length) } });
      const chunk = written(new ChunkedFrames(format), result);
      const [size = ''] = chunk.split('\r\n', 1);
      const body = chunk.slice(size.length + 2, -2);
      assert.equal(body.length, Number.parseInt(size, 16));
      assert.equal(body, written(format, result));
      assert.ok(chunk.endsWith('\r\n'));
    }
  });
}

test('the chunk of a text counts its bytes', () => {
  assert.equal(chunkOf(Buffer.from('ü\n')).toString(), '3\r\nü\n\r\n');
});
