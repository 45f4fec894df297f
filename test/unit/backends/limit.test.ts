import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import test from 'node:test';
import { backend, empty, failure, json, silence, silentTls } from './fixture.ts';

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
