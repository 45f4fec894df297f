import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_POSITION, readPosition, writePosition } from '../../../../src/bus/redis/position-field.ts';

const OFFSETS = [0, 41, 2 ** 33];
const EPOCHS = [0, 9, 10, 99_999, 1e10 + 9];

test('the field of a position is read as it was written, and as pods of the version before have written it', () => {
  for (const offset of OFFSETS) {
    for (const epoch of [undefined, ...EPOCHS]) {
      const position = { offset, epoch };
      assert.deepEqual(readPosition(writePosition(position)), position);
    }
  }
  assert.deepEqual(readPosition('41'), { offset: 41, epoch: undefined });
  assert.deepEqual(readPosition('41.7'), { offset: 41, epoch: 7 });
  for (const none of [null, undefined, '-1', '', 'x']) assert.deepEqual(readPosition(none), NO_POSITION);
});

test('pods of the version before, which compare the field as a number, leave out the offsets up to it and none above', () => {
  for (const offset of OFFSETS) {
    for (const epoch of EPOCHS) {
      const before = Number(writePosition({ offset, epoch }));
      assert.deepEqual([offset <= before, offset + 1 <= before], [true, false]);
    }
  }
  assert.equal(Number(writePosition(NO_POSITION)), -1);
});
