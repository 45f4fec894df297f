import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { compressFrameSync } from 'lz4-napi';
import { compressSync } from 'snappy';
import {
  decompressGzip,
  decompressLz4,
  decompressSnappy,
  decompressZstd,
  portableZstd,
} from '../../../../src/ingest/kafka/codecs.ts';

const TEXT = Buffer.from(JSON.stringify(Array.from({ length: 5_000 }, (_, n) => ({ n, some: 'text' }))));

/** `{"n":1}` a thousand times, by the zstd command. */
const ZSTD = Buffer.from('KLUv/WRYGn0AADh7Im4iOjF9AQBOq74YAaFZyPc=', 'base64');

/** What begins such a text. */
const XERIAL = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0, 0, 0, 0, 1, 0, 0, 0, 1]);

/** As Java clients do it: blocks of 32 KiB, each with its length in front. */
function xerial(text: Buffer): Buffer {
  const parts: Buffer[] = [XERIAL];
  for (let at = 0; at < text.length; at += 32_768) {
    const block = compressSync(text.subarray(at, at + 32_768));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(block.length);
    parts.push(length, block);
  }
  return Buffer.concat(parts);
}

test('each codec gives back what was compressed', async () => {
  assert.deepEqual(await decompressGzip(gzipSync(TEXT)), TEXT);
  assert.deepEqual(decompressLz4(compressFrameSync(TEXT)), TEXT);
  assert.deepEqual(decompressSnappy(compressSync(TEXT)), TEXT);
  assert.deepEqual(decompressSnappy(xerial(TEXT)), TEXT);
});

test('zstd is read in the same way with and without the zstd of Node.js', () => {
  for (const decompress of [decompressZstd, portableZstd]) {
    assert.equal(decompress(ZSTD).toString(), '{"n":1}'.repeat(1_000));
  }
});

test('what is damaged, or of another codec, is an error', async () => {
  const noise = randomBytes(500);
  noise[0] = 0xff;
  await assert.rejects(decompressGzip(noise));
  for (const decompress of [decompressLz4, decompressSnappy, decompressZstd, portableZstd]) {
    assert.throws(() => decompress(noise), Error, decompress.name);
  }
  const cut = xerial(TEXT);
  assert.throws(() => decompressSnappy(cut.subarray(0, cut.length - 10)));
  const small = xerial(Buffer.from('small'));
  small[XERIAL.length + 3] = 200;
  assert.throws(() => decompressSnappy(small), /ends past its batch/);
});

test('a batch that would become larger than 64 MiB is an error', async () => {
  const huge = Buffer.alloc(65 * 1024 * 1024);
  await assert.rejects(decompressGzip(gzipSync(huge, { level: 1 })));
  assert.throws(() => decompressSnappy(compressSync(huge)), /at most 67108864 bytes/);
  const blocks = xerial(huge.subarray(0, 32_768)).subarray(XERIAL.length);
  const many = Array.from({ length: huge.length / 32_768 }, () => blocks);
  assert.throws(() => decompressSnappy(Buffer.concat([XERIAL, ...many])), /at most 67108864 bytes/);
});
