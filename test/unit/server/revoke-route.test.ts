import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { revokeRoute, type AskedRevocation } from '../../../src/server/revoke-route.ts';
import { ask, errorOf, serve, type Answer } from './serve.ts';

const NOW = 1_000_000;
const KEEP_MS = 60_000;

async function served(
  t: TestContext,
): Promise<{ revoke: (at: number) => Promise<Answer>; revoked: AskedRevocation[] }> {
  const revoked: AskedRevocation[] = [];
  const route = revokeRoute(
    async (revocation) => void revoked.push(revocation),
    KEEP_MS,
    () => NOW,
  );
  const port = await serve(t, [route]);
  const revoke = (at: number): Promise<Answer> =>
    ask(port, '/revoke', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ path: 'id', value: '1', at }),
    });
  return { revoke, revoked };
}

describe('POST /revoke', () => {
  it('refuses a time so long ago that the revocation would be forgotten at once', async (t) => {
    const { revoke, revoked } = await served(t);
    const answer = await revoke(NOW - KEEP_MS);
    assert.equal(answer.status, 400);
    assert.equal(
      errorOf(answer),
      'expected at to be within the last 60 seconds (AUTH_REVOKED_SECONDS), got 940000',
    );
    assert.deepEqual(revoked, []);
    assert.equal((await revoke(NOW - KEEP_MS + 1)).status, 202);
    assert.deepEqual(revoked, [{ path: 'id', value: '1', at: NOW - KEEP_MS + 1 }]);
  });

  it('refuses a time to come', async (t) => {
    const { revoke, revoked } = await served(t);
    assert.equal((await revoke(NOW + 1)).status, 400);
    assert.deepEqual(revoked, []);
  });
});
