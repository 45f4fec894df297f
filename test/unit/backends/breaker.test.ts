import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { backend, failure, json, metric, silentTls, statuses } from './fixture.ts';

const OPEN_MS = 1_000;

test('a back end that keeps failing gets no calls until a trial succeeds', async (t) => {
  const left = [500, 500];
  const { server, api, clock, metrics, lines } = await backend(
    t,
    (response) => json(response, 'good', left.shift()),
    { breakerFailures: 2 },
  );
  const open = () => metric(metrics, 'backend_breaker_open', { backend: 'api' });
  await failure(api.get('/'), 'BACKEND_FAILED');
  assert.equal(await open(), 0);
  await failure(api.get('/'), 'BACKEND_FAILED');
  assert.equal(await open(), 1);
  const error = await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  assert.match(String(error.cause), /circuit breaker is open/);
  assert.equal(server.requests.length, 2);
  clock.advance(OPEN_MS);
  assert.equal(await api.get('/'), 'good');
  assert.equal(await open(), 0);
  assert.match(lines.join(''), /circuit breaker opened[\s\S]*circuit breaker closed/);
});

test('the breaker counts each try, and there is none once the breaker is open', async (t) => {
  const { server, api } = await backend(t, statuses(503), { breakerFailures: 2, retries: 5 });
  const error = await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  assert.equal(error.status, 503);
  assert.equal(server.requests.length, 2);
});

for (const [what, status, body] of [
  ['a rejected request', 400, '{}'],
  ['nothing found', 404, '{}'],
  ['an answer that is not JSON', 200, 'text'],
] as const) {
  test(`${what} does not count as a failure: the back end answers`, async (t) => {
    const bounds = { breakerFailures: 1 };
    const { server, api } = await backend(t, (response) => response.writeHead(status).end(body), bounds);
    for (let turn = 0; turn < 3; turn++) await api.get('/').catch(() => undefined);
    assert.equal(server.requests.length, 3);
  });
}

test('a trial whose caller gives up neither closes nor blocks the breaker', async (t) => {
  let status = 500;
  const { server, api, bind, clock, metrics } = await backend(
    t,
    (response) => void (status !== 0 && json(response, 'good', status)),
    { breakerFailures: 1 },
  );
  await failure(api.get('/'), 'BACKEND_FAILED');
  clock.advance(OPEN_MS);
  status = 0;
  const controller = new AbortController();
  const trial = failure(bind({ signal: controller.signal }).get('/'), 'BACKEND_ABORTED');
  await once(server.events, 'request');
  await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  controller.abort();
  await trial;
  assert.equal(await metric(metrics, 'backend_breaker_open', { backend: 'api' }), 1);
  status = 200;
  assert.equal(await api.get('/'), 'good');
});

test('a call that waits for a place while the breaker opens fails, and gives its place back', async (t) => {
  const bounds = { breakerFailures: 1, maxConcurrency: 1 };
  const { server, api, clock } = await backend(t, statuses(500, 204), bounds);
  const first = failure(api.get('/'), 'BACKEND_FAILED');
  const second = failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  await Promise.all([first, second]);
  assert.equal(server.requests.length, 1);
  clock.advance(OPEN_MS);
  assert.equal(await api.get('/'), null);
});

test('while the breaker is open a call fails at once, though every place is taken', async (t) => {
  const bounds = { connectTimeoutMs: 60_000, breakerFailures: 1, maxConcurrency: 1 };
  const { server, api, clock } = await silentTls(t, bounds);
  const call = failure(api.get('/'), 'BACKEND_TIMEOUT');
  await once(server, 'connection');
  clock.advance(5_000);
  await call;
  await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
});
