import assert from 'node:assert/strict';
import test from 'node:test';
// @ts-expect-error its types leave it out; ws exports it
import { PerMessageDeflate, Receiver } from 'ws';
import { SerializedResult } from '../../../../src/hub/result.ts';
import { FrameBatchCache } from '../../../../src/transports/delivery/frame-batch.ts';
import type { FrameFormat } from '../../../../src/transports/delivery/frame-format.ts';
import {
  compressedFormats,
  idText,
  messagesIn,
  NEXT_FRAMES,
} from '../../../../src/transports/websocket/frame.ts';
import { Random } from '../../../helpers/random.ts';

const MIN_BYTES = 200;

const compressed = compressedFormats(MIN_BYTES).get(NEXT_FRAMES) as FrameFormat;

/** The messages that a client reads, by ws's own parser with its extension. */
async function received(bytes: Buffer): Promise<string[]> {
  const messages: string[] = [];
  const deflate = new PerMessageDeflate({ isServer: false });
  deflate.accept([{ server_no_context_takeover: [true], client_no_context_takeover: [true] }]);
  const receiver = new Receiver({ isServer: false, extensions: { 'permessage-deflate': deflate } });
  receiver.on('message', (data: Buffer, isBinary: boolean) => {
    assert.equal(isBinary, false);
    messages.push(data.toString());
  });
  await new Promise<void>((resolve, reject) => {
    receiver.on('error', reject);
    receiver.on('finish', resolve);
    receiver.end(bytes);
  });
  return messages;
}

/** The bytes of frames, as one write after another has them. */
function written(results: readonly SerializedResult[], ids: readonly string[]): Buffer {
  const batches = new FrameBatchCache();
  const parts: Buffer[] = [];
  const queued = {
    format: compressed,
    next: 0,
    messages: results,
    ids: ids.map(idText),
    written: (next: number) => void (queued.next = next),
  };
  while (queued.next < results.length) {
    batches.write(queued, {
      write: (bytes, length) => void parts.push(Buffer.from(bytes.subarray(0, length))),
    });
  }
  return Buffer.concat(parts);
}

const pages = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `Maple Street ${index}`,
    status: 'LISTED',
    n: index,
  }));

const messageOf = (result: SerializedResult, id: string) => ({
  id,
  type: 'next',
  payload: JSON.parse(result.json.toString()) as unknown,
});

test('clients read random results of all sizes, by ids of any text, as ws would have compressed them', async () => {
  const random = Random.of(34, 'compressed frames');
  const letters = () => String.fromCodePoint(random.pick([random.between(32, 126), 0xfc, 0x20ac, 0x1f600]));
  const noise = (length: number) => Array.from({ length }, letters).join('');
  const texts = Array.from({ length: 300 }, () => {
    const length = random.pick([0, 5, 90, 130, 300, 2_000, 20_000, 70_000, 200_000]) + random.between(0, 9);
    return random.chance(0.5) ? 'x'.repeat(length) : noise(Math.min(length, 30_000));
  });
  const results = texts.map(
    (text) => new SerializedResult({ data: { text, pages: pages(random.between(0, 9)) } }),
  );
  const ids = results.map(() => noise(random.pick([0, 1, 4, 36, 500])));
  const expected = results.map((result, index) => messageOf(result, ids[index] ?? ''));
  const bytes = written(results, ids);
  const messages = await received(bytes);
  assert.deepEqual(
    messages.map((text) => JSON.parse(text) as unknown),
    expected,
  );
  assert.deepEqual(Array.from(messagesIn(bytes), String), messages, 'what goes through ws is not compressed');
});

test('a result in pieces is the same frame', async () => {
  const result = new SerializedResult({ data: { pages: pages(2_000) } });
  const pieces = Buffer.concat(compressed.pieces(result, 'abc'));
  assert.deepEqual(pieces, written([result], ['abc']));
  assert.ok(pieces.length < result.json.length / 4, `${pieces.length} of ${result.json.length} bytes`);
});

test('a result is compressed once for all ids, and counts in full while it waits', async (t) => {
  const result = new SerializedResult({ data: { pages: pages(40) } });
  const compressing = t.mock.method(result, 'compressed');
  const ids = ['1', '2', 'b7e2-aa'];
  const bytes = written([result, result, result], ids);
  assert.deepEqual(
    (await received(bytes)).map((text) => JSON.parse(text) as unknown),
    ids.map((id) => messageOf(result, id)),
  );
  assert.equal(new Set(compressing.mock.calls.map((call) => call.result)).size, 1);
  assert.ok(bytes.length < result.json.length, 'three frames are shorter than one result');
  assert.equal(compressed.held?.(result, 1), NEXT_FRAMES.length(result, 1));
});

const every = compressedFormats(1).get(NEXT_FRAMES) as FrameFormat;

for (const [what, format, data, id] of [
  ['shorter than the least', compressed, { text: 'x'.repeat(MIN_BYTES - 30) }, '1'],
  ['longer than what the event loop has time for', compressed, { text: 'x'.repeat(300_000) }, '1'],
  ['that gains nothing', every, { n: 1 }, '1'],
  ['for an id that fits into no block', compressed, { pages: pages(40) }, 'i'.repeat(65_600)],
] as const)
  test(`a result ${what} is sent as it is`, () => {
    const result = new SerializedResult({ data });
    assert.equal(format.length(result, id.length), NEXT_FRAMES.length(result, id.length));
    assert.deepEqual(Buffer.concat(format.pieces(result, id)), Buffer.concat(NEXT_FRAMES.pieces(result, id)));
  });

test('a result that must not be compressed is not, nor is what is made of it, nor a result for one slow client alone', () => {
  const result = new SerializedResult({ data: { pages: pages(40) } }, ['epoch', 1], 'key');
  result.neverCompress();
  const others = [result.withCursor, result.telling(2, true), result.standingFor({ of: () => 0 })];
  const ofOne = new SerializedResult({ data: { pages: pages(40) } }).telling(2, false, false);
  for (const each of [result, ...others, ofOne])
    assert.equal(compressed.length(each, 1), NEXT_FRAMES.length(each, 1));
});
