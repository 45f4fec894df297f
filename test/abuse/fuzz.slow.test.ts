import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzz } from '../fuzz/fuzz.ts';

test('an honest client gets each event while others send what the protocol allows and what it does not', async (t) => {
  const { violations, sessions, events } = await fuzz(t, { seed: 1, seconds: 10, clients: 6 });
  t.diagnostic(`${JSON.stringify(sessions)}, ${events} events`);
  assert.deepEqual(violations, []);
  assert.ok(events > 0);
  assert.ok(Object.values(sessions).every((count) => count > 0));
});
