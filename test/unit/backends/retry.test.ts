import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { failure, json, metric, setUp, startServer } from './fixture.ts';

const METHODS = [
  ['get', 3],
  ['put', 3],
  ['delete', 3],
  ['post', 1],
  ['patch', 1],
] as const;

for (const [method, tries] of METHODS) {
  test(`${method} is sent ${tries} times while it gets 503`, async (t) => {
    const server = await startServer(t, (response) => response.writeHead(503).end());
    const { api, clock, metrics } = setUp(t, { url: server.url });
    const error = await failure(api[method]('/'), 'BACKEND_UNAVAILABLE');
    assert.equal(error.status, 503);
    assert.equal(server.requests.length, tries);
    assert.deepEqual(clock.waits, tries === 1 ? [] : [100, 200]);
    assert.equal(await metric(metrics, 'backend_retries_total', { backend: 'api' }), tries - 1);
    const outcome = { backend: 'api', outcome: 'unavailable' };
    assert.equal(await metric(metrics, 'backend_requests_total', outcome), 1);
  });
}

test('a caller may say that a POST is idempotent, or that a GET is not', async (t) => {
  const server = await startServer(t, (response) => response.writeHead(502).end());
  const { api } = setUp(t, { url: server.url, retries: 1 });
  await failure(api.post('/', {}, { idempotent: true }), 'BACKEND_UNAVAILABLE');
  assert.equal(server.requests.length, 2);
  await failure(api.get('/', { idempotent: false }), 'BACKEND_UNAVAILABLE');
  assert.equal(server.requests.length, 3);
});

for (const status of [502, 503, 504]) {
  test(`when a try after ${status} succeeds, the call gets its answer`, async (t) => {
    const statuses = [status, 200];
    const server = await startServer(t, (response) => json(response, 'good', statuses.shift()));
    const { api, lines } = setUp(t, { url: server.url });
    assert.equal(await api.get('/'), 'good');
    assert.equal(server.requests.length, 2);
    assert.deepEqual(lines, []);
  });
}

test('a connection that breaks is a try that failed', async (t) => {
  let first = true;
  const server = await startServer(t, (response) => {
    if (first) response.destroy();
    else json(response, 'good');
    first = false;
  });
  const { api } = setUp(t, { url: server.url });
  assert.equal(await api.get('/'), 'good');
  assert.equal(server.requests.length, 2);
});

test('a body that breaks off is a try that failed', async (t) => {
  let first = true;
  const server = await startServer(t, (response) => {
    if (first) response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy());
    else json(response, 'good');
    first = false;
  });
  const { api } = setUp(t, { url: server.url });
  assert.equal(await api.get('/'), 'good');
});

test('a refused connection is unavailable, after all tries', async (t) => {
  const server = await startServer(t, () => undefined);
  server.server.close();
  await once(server.server, 'close');
  const { api, clock } = setUp(t, { url: server.url });
  const error = await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  assert.equal(error.status, undefined);
  assert.equal(clock.waits.length, 2);
  assert.doesNotMatch(JSON.stringify(error), /127\.0\.0\.1|ECONNREFUSED/);
  assert.match(String((error.cause as Error & { code?: string }).code), /ECONNREFUSED/);
});

test('each wait is between half of its maximum and all of it', async (t) => {
  const server = await startServer(t, (response) => response.writeHead(503).end());
  const { api, clock } = setUp(t, { url: server.url });
  clock.chance = 0;
  await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  assert.deepEqual(clock.waits, [50, 100]);
});

for (const [form, headers] of [
  ['in seconds', { 'retry-after': '3' }],
  [
    'as a date, by the back end’s own clock',
    { date: 'Tue, 01 Jan 2030 00:00:00 GMT', 'retry-after': 'Tue, 01 Jan 2030 00:00:03 GMT' },
  ],
] as const) {
  test(`Retry-After ${form} is waited for`, async (t) => {
    const statuses = [503, 200];
    const server = await startServer(t, (response) => {
      response.writeHead(statuses.shift() ?? 200, headers).end('1');
    });
    const { api, clock } = setUp(t, { url: server.url });
    assert.equal(await api.get('/'), 1);
    assert.deepEqual(clock.waits, [3_000]);
  });
}

test('Retry-After past the call’s time is not waited for', async (t) => {
  const server = await startServer(t, (response) => response.writeHead(503, { 'retry-after': '5' }).end());
  const { api, clock } = setUp(t, { url: server.url, timeoutMs: 5_000 });
  await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  assert.equal(server.requests.length, 1);
  assert.deepEqual(clock.waits, []);
});

test('a Retry-After that can not be read is passed over', async (t) => {
  const server = await startServer(t, (response) => response.writeHead(503, { 'retry-after': 'soon' }).end());
  const { api, clock } = setUp(t, { url: server.url });
  await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  assert.deepEqual(clock.waits, [100, 200]);
});
