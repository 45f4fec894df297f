import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { revokeRoute, type AskedRevocation } from '../../../src/server/revoke-route.ts';
import { ask, errorOf, serve, type Answer } from './serve.ts';

const NOW = 1_000_000;
const KEEP_MS = 60_000;

async function served(t: TestContext) {
  const revoked: AskedRevocation[] = [];
  const revoke = async (revocation: AskedRevocation) => void revoked.push(revocation);
  const port = await serve(t, [revokeRoute(revoke, KEEP_MS, () => NOW)]);
  const headers = { 'content-type': 'application/json' };
  const post = (at: number): Promise<Answer> =>
    ask(port, '/revoke', { method: 'POST', headers, body: JSON.stringify({ path: 'id', value: '1', at }) });
  return { post, revoked };
}

test('a time so long ago that the revocation would be forgotten at once is refused, and one to come', async (t) => {
  const { post, revoked } = await served(t);
  const late = await post(NOW - KEEP_MS);
  const error = 'expected at to be within the last 60 seconds (AUTH_REVOKED_SECONDS), got 940000';
  assert.deepEqual([late.status, errorOf(late)], [400, error]);
  assert.equal((await post(NOW + 1)).status, 400);
  assert.deepEqual(revoked, []);
  assert.equal((await post(NOW - KEEP_MS + 1)).status, 202);
  assert.deepEqual(revoked, [{ path: 'id', value: '1', at: NOW - KEEP_MS + 1 }]);
});
