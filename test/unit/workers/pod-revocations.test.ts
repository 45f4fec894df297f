import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import test, { type TestContext } from 'node:test';
import type { Revocation } from '../../../src/auth/revocations.ts';
import { revokeRoute } from '../../../src/server/revoke-route.ts';
import { HttpError } from '../../../src/server/http-error.ts';
import { PodRevocations } from '../../../src/workers/pod-revocations.ts';
import { ask, errorOf, serve } from '../server/serve.ts';

/** A worker as its primary knows it, whose own `POST /revoke` does as told. */
class FakeWorker extends EventEmitter {
  readonly slot = 1;
  adminPort = 0;
  /** By messages of the primary. */
  readonly told: string[][] = [];

  async listen(t: TestContext, revoke: () => Promise<void> = async () => undefined): Promise<this> {
    this.adminPort = await serve(t, [revokeRoute(revoke, 60_000)]);
    return this;
  }

  send({ revocations }: { revocations: readonly Revocation[] }): void {
    this.told.push(revocations.map(({ value }) => value));
  }
}

async function setUp(t: TestContext, workers: FakeWorker[], keepMs = 60_000) {
  const kept = new PodRevocations(() => workers as never, keepMs);
  for (const worker of workers) kept.hand(worker as never);
  const port = await serve(t, [kept.route]);
  const revoke = (value: string) =>
    ask(port, '/revoke', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ path: 'id', value }),
    });
  const start = (): FakeWorker => {
    const worker = new FakeWorker();
    kept.hand(worker as never);
    workers.push(worker);
    worker.emit('starting');
    return worker;
  };
  return { kept, revoke, start };
}

const AGAIN = 'the revocation may not have been taken, send it again: worker 1 refuses it: ';

for (const [status, message, isKept] of [
  [400, 'expected another path', false],
  [503, `${AGAIN}{"error":"expected another path"}`, true],
] as const) {
  test(`what a worker refuses with ${status} is answered with it, and ${isKept ? '' : 'not '}handed to later ones`, async (t) => {
    const refuse = () => Promise.reject(new HttpError(status, 'expected another path'));
    const { revoke, start } = await setUp(t, [await new FakeWorker().listen(t, refuse)]);
    const answer = await revoke('1');
    assert.deepEqual([answer.status, errorOf(answer)], [status, message]);
    assert.deepEqual(start().told, [isKept ? ['1'] : []]);
  });
}

test('a worker that starts is told of the revocations that there are, and then of each that follows', async (t) => {
  const { revoke, start } = await setUp(t, [await new FakeWorker().listen(t)]);
  for (const value of ['1', '2', '1']) assert.equal((await revoke(value)).status, 202);
  const fresh = start();
  assert.deepEqual(fresh.told, [['1', '2']]);
  await revoke('3');
  assert.deepEqual(fresh.told, [['1', '2'], ['3']]);
});

test('a worker that has not asked yet is told nothing of its own: it would take one for all', async (t) => {
  const early = new FakeWorker();
  const { revoke } = await setUp(t, [await new FakeWorker().listen(t), early]);
  await revoke('1');
  assert.deepEqual(early.told, []);
  early.emit('starting');
  assert.deepEqual(early.told, [['1']]);
});

test('while no worker listens, a revocation is to be sent again', async (t) => {
  const { revoke } = await setUp(t, [new FakeWorker()]);
  const answer = await revoke('1');
  assert.equal(answer.status, 503);
  assert.match(errorOf(answer), /no worker listens$/);
});
