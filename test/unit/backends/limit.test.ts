import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ownBytes } from '../../../src/support/byte-budget.ts';
import { backend, empty, failure, json, setUp, silence, silentTls, startServer } from './fixture.ts';

test('a back end gets no more requests at once than its limit, and each call gets its answer', async (t) => {
  const held: (() => void)[] = [];
  let most = 0;
  const { server, api } = await backend(
    t,
    (response, { url }) => {
      held.push(() => json(response, url));
      most = Math.max(most, held.length);
      // The back end answers the first request only once there is a second one beside it.
      if (held.length === 2) setImmediate(() => held.splice(0).forEach((answer) => answer()));
    },
    { maxConcurrency: 2, maxWaiting: 8 },
  );
  const paths = Array.from({ length: 10 }, (_, index) => `/${index}`);
  assert.deepEqual(await Promise.all(paths.map((path) => api.get(path))), paths);
  assert.equal(most, 2);
  assert.ok(server.connections() <= 2);
});

test('past the bound of waiting calls a call fails at once, and the back end gets no request', async (t) => {
  const held: ServerResponse[] = [];
  const bounds = { maxConcurrency: 1, maxWaiting: 1 };
  const { server, api } = await backend(t, (response) => held.push(response), bounds);
  const calls = [api.get('/1'), api.get('/2')];
  const error = await failure(api.get('/3'), 'BACKEND_OVERLOADED');
  assert.equal(error.status, undefined);
  for (const name of ['first', 'second']) {
    if (held.length === 0) await once(server.events, 'request');
    json(held.shift() ?? assert.fail('expected a request'), name);
  }
  assert.deepEqual(await Promise.all(calls), ['first', 'second']);
  assert.equal(server.requests.length, 2);
});

test('a call whose time is over while it waits is never sent', async (t) => {
  const { server, api, clock } = await backend(t, silence, { maxConcurrency: 1 });
  const first = failure(api.get('/1', { timeoutMs: 10_000 }), 'BACKEND_TIMEOUT');
  const second = failure(api.get('/2'), 'BACKEND_TIMEOUT');
  await once(server.events, 'request');
  clock.advance(5_000);
  await second;
  clock.advance(5_000);
  await first;
  assert.deepEqual(
    server.requests.map(({ url }) => url),
    ['/1'],
  );
});

test('calls that wait for credentials count as waiting', async (t) => {
  const { api, backends } = await backend(t, empty, {
    headers: () => new Promise(() => undefined),
    maxConcurrency: 1,
    maxWaiting: 1,
  });
  const waiting = [1, 2].map(() => failure(api.get('/'), 'BACKEND_ABORTED'));
  await failure(api.get('/'), 'BACKEND_OVERLOADED');
  await backends.close();
  await Promise.all(waiting);
});

test('a call that its caller aborts while it connects keeps its place until the connection attempt ends', async (t) => {
  const bounds = { connectTimeoutMs: 60_000, maxConcurrency: 1, maxWaiting: 0 };
  const { server, api, bind } = await silentTls(t, bounds);
  const controller = new AbortController();
  const call = failure(bind({ signal: controller.signal }).get('/'), 'BACKEND_ABORTED');
  await once(server, 'connection');
  controller.abort();
  await call;
  await failure(api.get('/'), 'BACKEND_OVERLOADED');
});

test('answers wait for room before they are read, and give it back once they are parsed', async (t) => {
  const answers = ownBytes(150_000);
  const server = await startServer(t, (response, { url }) => {
    const text = JSON.stringify({ url, long: 'x'.repeat(100_000) });
    if (url.endsWith('/known')) response.setHeader('content-length', text.length);
    else response.write(' ');
    response.end(text);
  });
  const bounds = { url: server.url, maxConcurrency: 8, maxResponseBytes: 120_000 };
  const { api } = setUp(t, bounds, answers);
  const reserved = t.mock.method(answers, 'reserve');
  const paths = Array.from({ length: 8 }, (_, index) => `/${index}/${index % 2 ? 'known' : 'unknown'}`);
  const got = await Promise.all(paths.map((path) => api.get(path)));
  assert.deepEqual(
    got.map((answer) => (answer as Record<string, unknown>)['_url']),
    paths,
  );
  // Four announce their length; the others turn out to be longer than what they reserve first.
  assert.equal(reserved.mock.callCount(), 4 + 4 * 2);
  assert.deepEqual([answers.held, answers.waiting], [0, 0]);
});

for (const known of [true, false]) {
  test(`an answer is refused that the pod can never hold, its length ${known ? 'known' : 'unknown'}`, async (t) => {
    const answers = ownBytes(1_000);
    const server = await startServer(t, (response) => {
      if (known) response.setHeader('content-length', 2_000);
      else response.write(' ');
      response.end('x'.repeat(2_000));
    });
    const { api } = setUp(t, { url: server.url, maxConcurrency: 1 }, answers);
    const error = await failure(api.get('/'), 'BACKEND_BAD_RESPONSE');
    assert.match(String(error.cause), /expected an answer of at most 1000 bytes, got/);
    await failure(api.get('/'), 'BACKEND_BAD_RESPONSE');
    assert.equal(answers.held, 0);
  });
}

test('a call that waits for room ends at its time limit, and has its connection closed', async (t) => {
  const answers = ownBytes(100);
  const server = await startServer(t, (response) => json(response, {}));
  const { api, clock } = setUp(t, { url: server.url }, answers);
  const held = answers.tryReserve(100, {});
  const call = failure(api.get('/'), 'BACKEND_TIMEOUT');
  while (answers.waiting === 0) await nextTurn();
  clock.advance(5_000);
  await call;
  assert.equal(answers.waiting, 0);
  held?.release();
  assert.deepEqual(await api.get('/'), {});
});
