import assert from 'node:assert/strict';
import test from 'node:test';
import { TokenRefusal } from '../../../../src/auth/refusal.ts';
import { PendingQuery } from '../../../../src/context/pending-query.ts';
import type { Json } from '../../../../src/lazy/reads.ts';
import { OpenRequests, type OpenRequest } from '../../../../src/transports/http/open-requests.ts';

const of = (id: string) => ({ viewer: { id }, token: undefined });

const isAnn = (viewer: Json): boolean => (viewer as { id: string }).id === 'ann';

const STAYS = new AbortController().signal;

/** A request that waits for a query. */
function waiting(requests: OpenRequests, id: string, query = new PendingQuery()) {
  let open: OpenRequest | undefined;
  const answer = requests.during(of(id), (request) => {
    open = request;
    return request.resultOf(query, STAYS);
  });
  return { answer, query, mayBegin: () => open?.mayBegin() };
}

test('requests of a viewer that is revoked are refused, and do not begin; those of others and later ones are answered', async () => {
  const requests = new OpenRequests(() => undefined);
  const [ann, bob] = [waiting(requests, 'ann'), waiting(requests, 'bob')];
  requests.revoke(isAnn);
  assert.deepEqual([ann.mayBegin(), bob.mayBegin()], [false, true]);
  const refusal = await ann.answer;
  assert.ok(refusal instanceof TokenRefusal && !refusal.isTemporary);
  assert.equal(refusal.reason, 'Access was revoked');
  const later = waiting(requests, 'ann');
  for (const { query } of [bob, later]) query.settle({ data: { a: 1 } });
  assert.deepEqual(await Promise.all([bob.answer, later.answer]), [{ data: { a: 1 } }, { data: { a: 1 } }]);
});

test('what has begun for a viewer that is revoked is aborted', async () => {
  const requests = new OpenRequests(() => undefined);
  const ann = waiting(requests, 'ann');
  let isAborted = false;
  ann.query.untilThen(() => (isAborted = true));
  requests.revoke(isAnn);
  assert.ok(isAborted);
  assert.ok((await ann.answer) instanceof TokenRefusal);
});

test('an identity that does not hold any more when a request is about to begin is refused with the reason', async () => {
  const reason = new TokenRefusal('not now', true);
  let held: TokenRefusal | undefined;
  const requests = new OpenRequests(() => held);
  const answer = requests.during(of('ann'), async (request) => {
    assert.ok(request.mayBegin());
    held = reason;
    return request.mayBegin();
  });
  assert.equal(await answer, reason);
});

test('a request that is answered, or fails, is open no more', async () => {
  const requests = new OpenRequests(() => undefined);
  const done: OpenRequest[] = [];
  await requests.during(of('ann'), async (request) => done.push(request));
  const failing = requests.during(of('ann'), (request) => {
    done.push(request);
    return Promise.reject(new Error('on purpose'));
  });
  await assert.rejects(failing);
  requests.revoke(isAnn);
  const refusals = done.map(({ refusal }) => refusal);
  assert.deepEqual(refusals, [undefined, undefined]);
});
