import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import type { Backend } from '../../../src/graph/api/backend.ts';
import { backend, empty, failure, json, metric, setUp, startServer, statuses } from './fixture.ts';

test('each method sends its body as JSON to a path below the base URL', async (t) => {
  const server = await startServer(t, empty);
  const { api } = setUp(t, { url: `${server.url}/api/v1/` });
  await api.get('/users/1', { query: { a: 'x&y', list: [1, 2], none: undefined, no: null } });
  await api.delete('/users/1');
  await api.post('/users', { userName: 'Ann' });
  await api.put('/users/1', [1]);
  await api.patch('/users/1', null);
  await api.get('');
  assert.deepEqual(
    server.requests.map(({ method, url, body }) => [method, url, body]),
    [
      ['GET', '/api/v1/users/1?a=x%26y&list=1&list=2', ''],
      ['DELETE', '/api/v1/users/1', ''],
      ['POST', '/api/v1/users', '{"userName":"Ann"}'],
      ['PUT', '/api/v1/users/1', '[1]'],
      ['PATCH', '/api/v1/users/1', 'null'],
      ['GET', '/api/v1', ''],
    ],
  );
  const types = server.requests.map(({ headers }) => headers['content-type']);
  const type = 'application/json';
  assert.deepEqual(types, [undefined, undefined, type, type, type, undefined]);
  assert.ok(server.requests.every(({ headers }) => headers.accept === type));
});

test('response keys are transformed, unless the definition keeps them', async (t) => {
  const server = await startServer(t, (response) => json(response, { userId: 1 }));
  assert.deepEqual(await setUp(t, { url: server.url }).api.get('/'), { _userId: 1 });
  assert.deepEqual(await setUp(t, { url: server.url, keys: 'KEEP' }).api.get('/'), { userId: 1 });
});

test('calls one after the other share connections, successful or not', async (t) => {
  let turn = 0;
  const { server, api } = await backend(t, (response) => {
    json(response, {}, [200, 404, 201, 400][turn % 4]);
  });
  for (; turn < 20; turn++) await api.get('/').catch(() => undefined);
  assert.equal(server.requests.length, 20);
  // undici may open a second connection while the first is still being put back.
  assert.ok(server.connections() <= 2, `${server.connections()} connections`);
});

test('after a failure with a large body the connection is closed, not kept waiting for a reader', async (t) => {
  const { server, api } = await backend(t, (response) => {
    response.on('close', () => server.events.emit('closed'));
    json(response, 'x'.repeat(20_000_000), 400);
  });
  const closed = once(server.events, 'closed');
  await failure(api.get('/'), 'BACKEND_REJECTED');
  await closed;
});

test('an empty answer is null', async (t) => {
  const { api } = await backend(t, statuses(204, 200));
  assert.equal(await api.delete('/users/1'), null);
  assert.equal(await api.get('/users/1'), null);
});

test('404 is an error, or null for a call that asks for null', async (t) => {
  const { api } = await backend(t, (response) => json(response, { secret: 1 }, 404));
  const error = await failure(api.get('/users/1'), 'BACKEND_NOT_FOUND');
  assert.deepEqual(error.extensions, { code: 'BACKEND_NOT_FOUND', backend: 'api', status: 404 });
  assert.equal(await api.get('/users/1', { nullIfNotFound: true }), null);
});

for (const [status, code] of [
  [400, 'BACKEND_REJECTED'],
  [401, 'BACKEND_REJECTED'],
  [429, 'BACKEND_OVERLOADED'],
  [500, 'BACKEND_FAILED'],
  [501, 'BACKEND_FAILED'],
  [304, 'BACKEND_BAD_RESPONSE'],
] as const) {
  test(`status ${status} is ${code}, and is not tried again`, async (t) => {
    const { server, api, metrics } = await backend(t, statuses(status));
    const error = await failure(api.get('/'), code);
    assert.deepEqual(error.extensions, { code, backend: 'api', status });
    assert.equal(server.requests.length, 1);
    const outcome = code.slice('BACKEND_'.length).toLowerCase();
    assert.equal(await metric(metrics, 'backend_requests_total', { backend: 'api', outcome }), 1);
  });
}

test('a redirect is not followed', async (t) => {
  const other = await startServer(t, (response) => json(response, 'stolen'));
  const { api } = await backend(t, (response) => response.writeHead(302, { location: other.url }).end(), {
    headers: { authorization: 'Bearer service' },
  });
  assert.equal((await failure(api.get('/'), 'BACKEND_BAD_RESPONSE')).status, 302);
  assert.equal(other.requests.length, 0);
});

test('an answer that is not JSON is an error, and its text is kept out of message, cause and log', async (t) => {
  const { api, lines } = await backend(t, (response) => response.end('<html>secret</html>'));
  const error = await failure(api.get('/'), 'BACKEND_BAD_RESPONSE');
  assert.match(String(error.cause), /expected JSON, got 19 characters/);
  assert.doesNotMatch(JSON.stringify(error) + String(error.cause) + lines.join(''), /secret/);
});

test('an answer with forbidden keys is an error', async (t) => {
  const { api } = await backend(t, (response) => json(response, { forbidden: 1 }));
  await failure(api.get('/'), 'BACKEND_BAD_RESPONSE');
});

for (const known of [true, false]) {
  test(`an answer past the bound is refused, its length ${known ? 'known' : 'unknown'}`, async (t) => {
    const { server, api } = await backend(
      t,
      (response) => {
        const text = JSON.stringify('x'.repeat(2_000));
        if (known) response.setHeader('content-length', text.length);
        else response.write(text.slice(0, 10));
        response.end(known ? text : text.slice(10));
      },
      { maxResponseBytes: 1_000 },
    );
    await failure(api.get('/'), 'BACKEND_BAD_RESPONSE');
    assert.equal(server.requests.length, 1);
  });
}

test('interim responses go before an answer, but not without end', async (t) => {
  const { server, api } = await backend(t, (response, { url }) => {
    const times = url === '/few' ? 20 : 1_000;
    response.socket?.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(times));
    if (url === '/few') json(response, 1);
  });
  assert.equal(await api.get('/few'), 1);
  const { cause } = await failure(api.get('/many'), 'BACKEND_BAD_RESPONSE');
  assert.match(String(cause), /expected at most 20 interim responses/);
  assert.equal(server.requests.length, 2);
});

test('headers come from the definition, then from the call, named in any case', async (t) => {
  const headers = { 'X-A': 'service', 'X-B': 'service', Accept: 'a/b' };
  const { server, api } = await backend(t, empty, { headers });
  await api.get('/', { headers: { 'x-b': 'call' } });
  const sent = server.requests[0]?.headers;
  assert.deepEqual([sent?.['x-a'], sent?.['x-b'], sent?.accept], ['service', 'call', 'a/b']);
});

test('a function gives the headers anew for each call, and its failure is the call’s', async (t) => {
  let turn = 0;
  const headers = async () => {
    turn += 1;
    if (turn === 3) throw new Error('no token');
    return { Authorization: `Bearer ${turn}` };
  };
  const { server, api } = await backend(t, empty, { headers });
  await api.get('/');
  await api.get('/');
  const error = await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  assert.match(String(error.cause), /no token/);
  assert.deepEqual(
    server.requests.map((request) => request.headers.authorization),
    ['Bearer 1', 'Bearer 2'],
  );
});

for (const [what, call] of [
  ['a path that leaves the base URL', (api: Backend) => api.get('/../admin')],
  ['a header with a line break', (api: Backend) => api.get('/', { headers: { 'x-a': 'a\r\nx-b: c' } })],
  ['a time that is none', (api: Backend) => api.get('/', { timeoutMs: NaN })],
  ['a body that JSON can not hold', (api: Backend) => api.post('/', 1n)],
  ['a body that is nothing in JSON', (api: Backend) => api.post('/', () => 1)],
] as const) {
  test(`${what} is never sent`, async (t) => {
    const { server, api, lines } = await backend(t, empty);
    await failure(call(api), 'BACKEND_BAD_REQUEST');
    assert.equal(server.requests.length, 0);
    assert.equal(lines.length, 1, 'the log says what was wrong');
  });
}

test('calls are counted and timed, and none is left in flight', async (t) => {
  const during: number[] = [];
  const { api, clock, metrics } = await backend(t, async (response) => {
    during.push(await metric(metrics, 'backend_in_flight', { backend: 'api' }));
    clock.advance(250);
    json(response, {});
  });
  await api.get('/');
  assert.deepEqual(during, [1]);
  assert.equal(await metric(metrics, 'backend_in_flight', { backend: 'api' }), 0);
  assert.equal(await metric(metrics, 'backend_requests_total', { backend: 'api', outcome: 'ok' }), 1);
  const text = await metrics.registry.getSingleMetricAsString('sluice_backend_duration_seconds');
  assert.match(text, /sum\{backend="api"\} 0\.25/);
});
