import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Reader, readRecordsBatches } from '@platformatic/kafka';
import { encodedBatch } from './encoded-batch.ts';

// Faults of @platformatic/kafka 1.35.0, for which the driver reads fetches itself (docs/adr/0022). One that is mended fails
// here.

test('@platformatic/kafka 1.35.0 does not pass over tagged fields', () => {
  // One field, with the number 0, of two bytes; then another number.
  const reader = Reader.from(Buffer.from([1, 0, 2, 9, 9, 5]));
  reader.readTaggedFields();
  assert.notEqual(reader.readInt8(), 5);
});

test('@platformatic/kafka 1.35.0 verifies no checksum', () => {
  const batch = encodedBatch(['a', 'b']);
  batch[batch.length - 2] = 0x21;
  const [read] = readRecordsBatches(Reader.from(batch));
  assert.equal(String(read?.records[1]?.value), '!');
});

test('@platformatic/kafka 1.35.0 reads no batch of a fetch of which one has a codec that it does not know', () => {
  const batches = Buffer.concat([
    encodedBatch(['a']),
    encodedBatch(['b'], { firstOffset: 1, attributes: 7 }),
  ]);
  assert.throws(() => readRecordsBatches(Reader.from(batches)), /compression/);
});
