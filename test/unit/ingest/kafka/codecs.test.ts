import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { compressFrameSync } from 'lz4-napi';
import { compressSync } from 'snappy';
import { BatchTooLarge, CODECS, FetchUnpacking, portableZstd } from '../../../../src/ingest/kafka/codecs.ts';
import { zstd } from '../../../helpers/zstd.ts';

const TEXT = Buffer.from(JSON.stringify(Array.from({ length: 5_000 }, (_, n) => ({ n, some: 'text' }))));

/** `{"n":1}` a thousand times, by the zstd command. */
const ZSTD = Buffer.from('KLUv/WRYGn0AADh7Im4iOjF9AQBOq74YAaFZyPc=', 'base64');

/** What begins such a text. */
const XERIAL = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0, 0, 0, 0, 1, 0, 0, 0, 1]);

/** Compresses as Java clients do: blocks of 32 KiB, each with its length in front. */
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

const MAX_BYTES = 64 * 1024 * 1024;
const [, gzip, snappy, lz4, zstdOfNode] = CODECS.map(
  (codec) =>
    (bytes: Buffer, records = 1) =>
      new FetchUnpacking().unpack(codec ?? portableZstd, bytes, records),
) as [unknown, Unpack, Unpack, Unpack, Unpack];
type Unpack = (bytes: Buffer, records?: number) => Promise<Buffer | undefined>;
const zstdOfGateway: Unpack = (bytes, records = 1) =>
  new FetchUnpacking().unpack(portableZstd, bytes, records);

test('each codec gives back what was compressed', async () => {
  assert.deepEqual(await gzip(gzipSync(TEXT)), TEXT);
  assert.deepEqual(await lz4(compressFrameSync(TEXT)), TEXT);
  assert.deepEqual(await lz4(compressFrameSync(TEXT, { contentChecksum: true, blockChecksums: true })), TEXT);
  assert.deepEqual(await snappy(compressSync(TEXT)), TEXT);
  assert.deepEqual(await snappy(xerial(TEXT)), TEXT);
});

test('what becomes more than a small part of the bound is given back by each codec', async () => {
  const large = Buffer.alloc(20_000_000, TEXT);
  assert.ok(large.equals((await lz4(compressFrameSync(large))) ?? TEXT));
  assert.ok(large.equals((await snappy(compressSync(large))) ?? TEXT));
  assert.ok(large.equals((await gzip(gzipSync(large, { level: 1 }))) ?? TEXT));
  for (const unpack of [zstdOfNode, zstdOfGateway])
    assert.ok(large.equals((await unpack(zstd(large))) ?? TEXT));
});

test('zstd is read in the same way with and without the zstd of Node.js', async () => {
  for (const unpack of [zstdOfNode, zstdOfGateway]) {
    assert.equal(String(await unpack(ZSTD)), '{"n":1}'.repeat(1_000));
  }
});

test('what is damaged, or of another codec, is an error, and not for its size', async () => {
  const noise = Buffer.alloc(500, 0xff);
  for (const unpack of [gzip, lz4, snappy, zstdOfNode, zstdOfGateway]) {
    await assert.rejects(unpack(noise), (error) => !(error instanceof BatchTooLarge));
  }
  const cut = xerial(TEXT);
  await assert.rejects(snappy(cut.subarray(0, cut.length - 10)));
  const small = xerial(Buffer.from('small'));
  small[XERIAL.length + 3] = 200;
  await assert.rejects(snappy(small), /ends past its batch/);
  const frame = compressFrameSync(TEXT);
  for (const end of [4, 8, frame.length - 6]) await assert.rejects(lz4(frame.subarray(0, end)), RangeError);
});

test('a batch that would become larger than 64 MiB is an error', async () => {
  const huge = Buffer.alloc(65 * 1024 * 1024);
  const blocks = xerial(huge.subarray(0, 32_768)).subarray(XERIAL.length);
  const many = Array.from({ length: huge.length / 32_768 }, () => blocks);
  for (const [unpack, bytes] of [
    [gzip, gzipSync(huge, { level: 1 })],
    [snappy, compressSync(huge)],
    [snappy, Buffer.concat([XERIAL, ...many])],
    [lz4, compressFrameSync(huge)],
    [zstdOfNode, zstd(huge)],
    [zstdOfGateway, zstd(huge)],
  ] as const) {
    await assert.rejects(unpack(bytes), BatchTooLarge);
  }
});

test('a batch of more records than their objects have room is an error before it is decompressed', async () => {
  await assert.rejects(gzip(Buffer.from('not looked at'), MAX_BYTES / 1_024), BatchTooLarge);
});

const claims = (head: readonly number[]): Buffer => Buffer.from([...head, ...Buffer.alloc(20)]);

test('sizes that a frame claims and does not have take no memory', async () => {
  const before = process.memoryUsage.rss();
  // A block of snappy, a frame of LZ4, and frames of zstd with a window, and with a size, of gigabytes.
  const content = Buffer.alloc(8);
  content.writeBigUInt64LE(2n ** 40n);
  const [flags, ...rest] = compressFrameSync(Buffer.from('small')).subarray(4);
  const lz4Claims = Buffer.from([
    4,
    0x22,
    0x4d,
    0x18,
    (flags ?? 0) | 8,
    rest[0] ?? 0,
    ...content,
    ...rest.slice(1),
  ]);
  const magic = [0x28, 0xb5, 0x2f, 0xfd];
  await assert.rejects(snappy(claims([0xff, 0xff, 0xff, 0xff, 0x0f])), BatchTooLarge);
  await assert.rejects(lz4(lz4Claims));
  for (const unpack of [zstdOfNode, zstdOfGateway]) {
    await assert.rejects(unpack(claims([...magic, 0, 0xa8, 0xff])));
    await assert.rejects(unpack(claims([...magic, 0xa0, 0xff, 0xff, 0xff, 0xff, 0xff])));
  }
  assert.ok(process.memoryUsage.rss() - before < MAX_BYTES);
});

test('the batches of a fetch become 32 MiB together, but for a first one that is larger; what does not fit, and all behind it, wait', async () => {
  const [, gunzip = portableZstd] = CODECS;
  const MIB = 1024 * 1024;
  const lengths = async (...mib: readonly number[]) => {
    const fetch = new FetchUnpacking();
    const unpacked = [];
    for (const one of mib) {
      const bytes = await fetch.unpack(gunzip, gzipSync(Buffer.alloc(one * MIB), { level: 1 }), 1);
      unpacked.push(bytes && bytes.length / MIB);
    }
    return unpacked;
  };
  assert.deepEqual(await lengths(15, 15, 15, 1), [15, 15, undefined, undefined]);
  assert.deepEqual(await lengths(60, 1), [60, undefined]);
});
