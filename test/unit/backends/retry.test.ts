import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import test from 'node:test';
import { freePort } from '../../helpers/free-port.ts';
import { backend, failure, json, metric, setUp, statuses } from './fixture.ts';

for (const [method, tries] of [
  ['get', 3],
  ['put', 3],
  ['delete', 3],
  ['post', 1],
  ['patch', 1],
] as const) {
  test(`${method} is sent ${tries} times while it gets 503`, async (t) => {
    const { server, api, clock, metrics } = await backend(t, statuses(503));
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
  const { server, api } = await backend(t, statuses(502), { retries: 1 });
  await failure(api.post('/', {}, { idempotent: true }), 'BACKEND_UNAVAILABLE');
  assert.equal(server.requests.length, 2);
  await failure(api.get('/', { idempotent: false }), 'BACKEND_UNAVAILABLE');
  assert.equal(server.requests.length, 3);
});

for (const [what, fail] of [
  ['status 502', (response: ServerResponse) => response.writeHead(502).end()],
  ['status 504', (response: ServerResponse) => response.writeHead(504).end()],
  ['a connection that breaks', (response: ServerResponse) => response.destroy()],
  [
    'a body that breaks off',
    (response: ServerResponse) =>
      response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy()),
  ],
] as const) {
  test(`when a try after ${what} succeeds, the call gets its answer`, async (t) => {
    const answers = [fail, (response: ServerResponse) => json(response, 'good')];
    const { server, api, lines } = await backend(t, (response) => answers.shift()?.(response));
    assert.equal(await api.get('/'), 'good');
    assert.equal(server.requests.length, 2);
    assert.deepEqual(lines, []);
  });
}

test('a refused connection is unavailable, after all tries', async (t) => {
  const { api, clock } = setUp(t, { url: `http://127.0.0.1:${await freePort()}` });
  const error = await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  assert.equal(error.status, undefined);
  assert.equal(clock.waits.length, 2);
  assert.doesNotMatch(JSON.stringify(error), /127\.0\.0\.1|ECONNREFUSED/);
  assert.match(String((error.cause as Error & { code?: string }).code), /ECONNREFUSED/);
});

test('each wait is between half of its maximum and all of it', async (t) => {
  const { api, clock } = await backend(t, statuses(503));
  clock.chance = 0;
  await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  assert.deepEqual(clock.waits, [50, 100]);
});

for (const [how, headers, waits] of [
  ['in seconds is waited for', { 'retry-after': '3' }, [3_000]],
  [
    'as a date is waited for, by the back end’s own clock',
    { date: 'Tue, 01 Jan 2030 00:00:00 GMT', 'retry-after': 'Tue, 01 Jan 2030 00:00:03 GMT' },
    [3_000],
  ],
  ['that can not be read is passed over', { 'retry-after': 'soon' }, [100]],
] as const) {
  test(`Retry-After ${how}`, async (t) => {
    const left = [503, 200];
    const { api, clock } = await backend(t, (response) => {
      response.writeHead(left.shift() ?? 200, headers).end('1');
    });
    assert.equal(await api.get('/'), 1);
    assert.deepEqual(clock.waits, waits);
  });
}

test('Retry-After past the call’s time is not waited for', async (t) => {
  const { server, api, clock } = await backend(
    t,
    (response) => response.writeHead(503, { 'retry-after': '5' }).end(),
    { timeoutMs: 5_000 },
  );
  await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  assert.equal(server.requests.length, 1);
  assert.deepEqual(clock.waits, []);
});
