import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../helpers/eventually.ts';

test('eventually waits for a check that comes to hold, and returns its result', async () => {
  let calls = 0;
  const check = (): number => {
    assert.ok(++calls >= 3);
    return calls;
  };
  assert.equal(await eventually(check), 3);
});

test('eventually fails with the reason of a check that never holds', async () => {
  const never = eventually(() => assert.fail('one is not two'), { withinMs: 0 });
  await assert.rejects(never, /Not so within 0 ms: one is not two/);
});
