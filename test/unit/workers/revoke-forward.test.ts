import assert from 'node:assert/strict';
import test from 'node:test';
import { revokeRoute } from '../../../src/server/revoke-route.ts';
import { HttpError } from '../../../src/server/http-error.ts';
import { revokeForward } from '../../../src/workers/revoke-forward.ts';
import { ask, errorOf, serve } from '../server/serve.ts';

const ASKED = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"path": "sub", "value": 1}',
};

const AGAIN = 'the revocation may not have been taken, send it again: worker 1 refuses it: ';

for (const [status, message] of [
  [400, 'expected another path'],
  [503, `${AGAIN}{"error":"expected another path"}`],
] as const) {
  test(`what a worker refuses with ${status} is answered with it`, async (t) => {
    const refuse = () => Promise.reject(new HttpError(status, 'expected another path'));
    const adminPort = await serve(t, [revokeRoute(refuse, 60_000)]);
    const port = await serve(t, [revokeForward(() => [{ slot: 1, adminPort }], 60_000)]);
    const answer = await ask(port, '/revoke', ASKED);
    assert.deepEqual([answer.status, errorOf(answer)], [status, message]);
  });
}
