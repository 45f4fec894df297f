import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { SerializedResult } from '../../../../src/hub/result.ts';
import { Flusher } from '../../../../src/transports/delivery/flusher.ts';
import type { LateReceiver } from '../../../../src/transports/delivery/late-results.ts';
import { SendQueue } from '../../../../src/transports/delivery/send-queue.ts';
import { EVENT_STREAM } from '../../../../src/transports/http/event-stream.ts';
import { gzipFormats } from '../../../../src/transports/http/gzip.ts';
import { ResponseSink } from '../../../../src/transports/http/response-sink.ts';
import { range } from '../../../helpers/numbers.ts';
import { Random } from '../../../helpers/random.ts';

const MB = 1_048_576;
const RESULTS = 150;

const receiver: LateReceiver = {
  id: '',
  onSlow: 'CONFLATE',
  withGap: (result, leftOut) => result.telling(leftOut, false),
};

/** A socket that takes little at once, and what it has taken. */
function slowBody() {
  const taken: Buffer[] = [];
  const body = new Duplex({
    highWaterMark: 16_384,
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      taken.push(Buffer.from(chunk));
      setImmediate(done);
    },
  });
  return { body, bytes: () => Buffer.concat(taken) };
}

/** The body that chunks of HTTP/1.1 make up. */
function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const end = lineEnd + 2 + Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    parts.push(bytes.subarray(lineEnd + 2, end));
    assert.equal(bytes.toString('latin1', end, end + 2), '\r\n');
    at = end + 2;
  }
  return Buffer.concat(parts);
}

for (const isChunked of [true, false]) {
  test(`a slow client unpacks ${isChunked ? 'chunks' : 'a body without chunks'} to all results of all sizes, and finds the checksum right`, async () => {
    const random = Random.of(34, `response ${isChunked}`);
    const { body, bytes } = slowBody();
    const response = { chunkedEncoding: isChunked, end: () => body.end() };
    const frames = gzipFormats(500).get(EVENT_STREAM);
    const sink = new ResponseSink(response as unknown as ServerResponse, body, EVENT_STREAM, frames);
    const flusher = new Flusher(Date.now, () => undefined);
    const sendQueue = new SendQueue(sink, { overflow: () => assert.fail('overflow') }, flusher, 100 * MB);
    sink.send(EVENT_STREAM.opening());
    for (const n of range(0, RESULTS)) {
      const length = random.pick([1, 300, 3_000, 65_400, 70_000, 140_000, 300_000]);
      const text = random.chance(0.5)
        ? 'x'.repeat(length)
        : random
            .next()
            .toString(36)
            .repeat(length / 10);
      const result = new SerializedResult({ data: { n, text } }, random.chance(0.5) ? ['e', n] : undefined);
      if (random.chance(0.3)) result.neverCompress();
      if (sendQueue.isSlow) sendQueue.addLate(receiver, result);
      else sendQueue.add(result, '');
      if (random.chance(0.3)) sendQueue.send(EVENT_STREAM.heartbeat);
      if (random.chance(0.5)) await nextTurn();
    }
    sendQueue.finish();
    sink.end(EVENT_STREAM.completed);
    await finished(body, { readable: false });
    const packed = isChunked ? unchunked(bytes()) : bytes();
    const text = gunzipSync(packed).toString();
    const numbers = [...text.matchAll(/^data: \{"data":\{"n":(\d+),"text":"[^"]*"\}\}$/gm)].map(([, n]) =>
      Number(n),
    );
    assert.deepEqual(numbers, range(0, RESULTS));
    assert.ok(text.endsWith(EVENT_STREAM.completed));
  });
}
