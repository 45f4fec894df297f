import assert from 'node:assert/strict';
import test from 'node:test';
import { constants, gunzipSync, inflateRawSync } from 'node:zlib';
import { SerializedResult } from '../../../../src/hub/result.ts';
import { FrameBatchCache } from '../../../../src/transports/delivery/frame-batch.ts';
import type { FrameFormat } from '../../../../src/transports/delivery/frame-format.ts';
import { EVENT_STREAM } from '../../../../src/transports/http/event-stream.ts';
import { GzipBody, gzipFormats, type GzipFrames } from '../../../../src/transports/http/gzip.ts';
import { MULTIPART } from '../../../../src/transports/http/multipart.ts';
import { FLUSH } from '../../../../src/transports/delivery/deflate.ts';
import { Random } from '../../../helpers/random.ts';

const formats = gzipFormats(200);

const page = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ name: `Maple Street ${n}`, status: 'LISTED', n }));

/** The bytes of frames, as one write after another has them. */
function written(format: FrameFormat, results: readonly SerializedResult[]): Buffer {
  const batches = new FrameBatchCache();
  const parts: Buffer[] = [];
  const queued = {
    format,
    next: 0,
    messages: results,
    ids: results.map(() => ''),
    written: (next: number) => void (queued.next = next),
  };
  while (queued.next < results.length) {
    batches.write(queued, {
      write: (bytes, length) => void parts.push(Buffer.from(bytes.subarray(0, length))),
    });
  }
  return Buffer.concat(parts);
}

for (const wire of [EVENT_STREAM, MULTIPART]) {
  const gzip = formats.get(wire) as GzipFrames;

  test(`a body of ${wire.name} is unpacked as it would have been without gzip, also before it has ended`, () => {
    const random = Random.of(34, wire.name);
    const letters = () => String.fromCodePoint(random.pick([random.between(32, 126), 0xfc, 0x20ac, 0x1f600]));
    const body = new GzipBody(gzip);
    const [packed, plain] = [[body.text(wire.opening())], [wire.opening()]];
    plain[0] = gunzipSync(packed[0] ?? '', { finishFlush: constants.Z_SYNC_FLUSH }).toString();
    for (let n = 0; n < 60; n += 1) {
      const length = random.pick([0, 5, 300, 2_000, 20_000, 70_000, 300_000]);
      const text = random.chance(0.5)
        ? 'x'.repeat(length)
        : Array.from({ length: Math.min(length, 66_000) }, letters).join('');
      const more = random.between(1, 3);
      const results = Array.from({ length: more }, (_, index) => {
        const result = { data: { text, page: page(random.between(0, 9)) } };
        return new SerializedResult(result, random.chance(0.5) ? ['epoch', n + index] : undefined);
      });
      packed.push(written(gzip, results));
      for (const result of results) body.add(result);
      packed.push(body.text(wire.heartbeat));
      for (const each of packed.slice(-2)) assert.deepEqual(each.subarray(-FLUSH.length), FLUSH);
      plain.push(written(wire.format, results).toString(), wire.heartbeat);
      const soFar = inflateRawSync(Buffer.concat(packed.slice(-2)), {
        finishFlush: constants.Z_SYNC_FLUSH,
      });
      assert.equal(soFar.toString(), plain.slice(-2).join(''));
    }
    packed.push(body.text(wire.completed), body.end());
    plain.push(wire.completed);
    // It compares the checksum and the length.
    assert.equal(gunzipSync(Buffer.concat(packed)).toString(), plain.join(''));
  });

  test(`a result of ${wire.name} is compressed once, and counts in full while it waits`, (t) => {
    const result = new SerializedResult({ data: { page: page(40) } });
    const compressing = t.mock.method(result, 'compressed');
    const bytes = written(gzip, [result, result, result]);
    assert.equal(new Set(compressing.mock.calls.map((call) => call.result)).size, 1);
    assert.ok(bytes.length < result.json.length, 'three frames are shorter than one result');
    assert.equal(gzip.held(result, 0), wire.format.length(result, 0));
    const secret = new SerializedResult({ data: { page: page(40) } });
    secret.neverCompress();
    assert.ok(written(gzip, [secret]).length > wire.format.length(secret, 0));
  });

  test(`a large result of ${wire.name} that is not compressed is not copied for each client`, () => {
    const result = new SerializedResult({ data: { text: 'x'.repeat(300_000) } });
    for (const piece of gzip.pieces(result).filter(({ length }) => length > 60_000)) {
      assert.equal(piece.buffer, result.json.buffer);
    }
    assert.equal(Buffer.concat(gzip.pieces(result)).length, gzip.length(result));
  });
}
