import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteReader } from '../../../../../src/ingest/kafka/platformatic/byte-reader.ts';

test('numbers of a variable length are read as they were written', () => {
  const numbers = [0, 1, -1, 63, -64, 64, 300, -300, 2 ** 31 - 1, -(2 ** 31), 2 ** 52, -(2 ** 52)];
  const reader = new ByteReader(Buffer.from(numbers.flatMap(varIntOf)));
  assert.deepEqual(
    numbers.map(() => reader.varInt()),
    numbers,
  );
  assert.equal(reader.remaining, 0);
});

function varIntOf(number: number): number[] {
  const bytes: number[] = [];
  let left = BigInt(number) >= 0n ? BigInt(number) * 2n : -BigInt(number) * 2n - 1n;
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return [...bytes, Number(left)];
}

test('tagged fields are passed over', () => {
  const reader = new ByteReader(Buffer.from([2, 0, 1, 9, 1, 2, 9, 9, 5]));
  reader.skipTags();
  assert.equal(reader.int8(), 5);
});

test('what ends too early is told', () => {
  assert.throws(() => new ByteReader(Buffer.alloc(3)).int32(), /expected 4 more bytes, got 3/);
  assert.throws(() => new ByteReader(Buffer.from([0xff])).unsignedVarInt(), /expected 1 more bytes, got 0/);
  assert.throws(() => new ByteReader(Buffer.from([40, 1])).varIntBytes(), /expected 20 more bytes, got 1/);
});
