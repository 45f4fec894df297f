import assert from 'node:assert/strict';
import test from 'node:test';
import { crc32 } from 'node:zlib';
import { checksumOf, joined } from '../../../../src/transports/http/checksum.ts';
import { Random } from '../../../helpers/random.ts';

test('parts that were summed up by themselves have the checksum of all bytes together', () => {
  const random = Random.of(34, 'checksums');
  const bytesOf = (length: number) => Buffer.from(Array.from({ length }, () => random.between(0, 255)));
  const lengths = [2, 3, 255, 256, 65_535, 65_536, 100_001];
  const parts = Array.from({ length: 100 }, () => bytesOf(random.pick(lengths)));
  let crc = 0;
  let all = 0;
  for (const part of parts) {
    const half = random.between(1, part.length - 1);
    crc = joined(crc, checksumOf([part.subarray(0, half), part.subarray(half)]));
    all = crc32(part, all);
    assert.equal(crc, all);
  }
});
