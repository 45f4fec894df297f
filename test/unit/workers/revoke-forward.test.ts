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

for (const [status, answered, message] of [
  [400, 400, 'expected another path'],
  [
    503,
    503,
    'the revocation may not have been taken, send it again: worker 1 refuses it: {"error":"expected another path"}',
  ],
] as const) {
  test(`what a worker refuses with ${status} is answered with ${answered}`, async (t) => {
    const worker = revokeRoute(async () => {
      throw new HttpError(status, 'expected another path');
    }, 60_000);
    const adminPort = await serve(t, [worker]);
    const port = await serve(t, [revokeForward(() => [{ slot: 1, adminPort }], 60_000)]);
    const answer = await ask(port, '/revoke', ASKED);
    assert.deepEqual([answer.status, errorOf(answer)], [answered, message]);
  });
}
