import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import test from 'node:test';
import { failure, json, setUp, startServer, startSilentTls } from './fixture.ts';

test('a call that gets no answer ends when its time is over', async (t) => {
  const server = await startServer(t, () => undefined);
  const { api, clock } = setUp(t, { url: server.url, timeoutMs: 5_000 });
  const call = failure(api.get('/'), 'BACKEND_TIMEOUT');
  await once(server.events, 'request');
  clock.advance(4_999);
  clock.advance(1);
  await call;
  assert.equal(server.requests.length, 1, 'no time is left for another try');
  assert.equal(clock.sleepers, 0);
});

test('a call may have a timeout of its own', async (t) => {
  const server = await startServer(t, () => undefined);
  const { api, clock } = setUp(t, { url: server.url });
  const call = failure(api.get('/', { timeoutMs: 60_000 }), 'BACKEND_TIMEOUT');
  await once(server.events, 'request');
  clock.advance(59_999);
  assert.equal(clock.sleepers, 1);
  clock.advance(1);
  await call;
});

test('when the body of an answer does not end, the call times out and its connection is closed', async (t) => {
  const server = await startServer(t, (response) => {
    response.writeHead(200).write('[1,');
    response.on('close', () => server.events.emit('closed'));
  });
  const { api, clock } = setUp(t, { url: server.url });
  const call = failure(api.get('/'), 'BACKEND_TIMEOUT');
  await once(server.events, 'request');
  const closed = once(server.events, 'closed');
  clock.advance(5_000);
  await call;
  await closed;
});

test('a try without headers in time has failed, and another one follows', async (t) => {
  let first = true;
  const server = await startServer(t, (response) => {
    if (!first) json(response, 'good');
    first = false;
  });
  const { api } = setUp(t, { url: server.url, headersTimeoutMs: 1_000 });
  assert.equal(await api.get('/'), 'good');
  assert.equal(server.requests.length, 2);
});

test('a connection that is never established does not hold the caller past its timeout', async (t) => {
  const { url, server } = await startSilentTls(t);
  const { api, clock } = setUp(t, { url, connectTimeoutMs: 60_000 });
  const call = failure(api.get('/'), 'BACKEND_TIMEOUT');
  await once(server, 'connection');
  clock.advance(5_000);
  await call;
});

test('a connection that takes too long is a try that failed', async (t) => {
  const { url } = await startSilentTls(t);
  const { api } = setUp(t, { url, connectTimeoutMs: 1, retries: 0 });
  const error = await failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  assert.match(String(error.cause), /Connect Timeout/);
});

test('an execution that is given up ends its calls at once', async (t) => {
  const server = await startServer(t, (response) => {
    response.on('close', () => server.events.emit('closed'));
  });
  const { bind, clock, lines } = setUp(t, { url: server.url });
  const controller = new AbortController();
  const call = failure(bind({ signal: controller.signal }).get('/'), 'BACKEND_ABORTED');
  await once(server.events, 'request');
  const closed = once(server.events, 'closed');
  controller.abort();
  await call;
  await closed;
  assert.equal(clock.sleepers, 0);
  assert.deepEqual(lines, []);
});

test('a call of an execution that was given up before sends nothing', async (t) => {
  const server = await startServer(t, (response) => json(response, {}));
  const { bind } = setUp(t, { url: server.url });
  await failure(bind({ signal: AbortSignal.abort() }).get('/'), 'BACKEND_ABORTED');
  assert.equal(server.requests.length, 0);
});

test('giving up an execution ends its wait for the next try', async (t) => {
  const server = await startServer(t, (response) => response.writeHead(503).end());
  const { bind, clock } = setUp(t, { url: server.url });
  clock.patience = 0;
  const controller = new AbortController();
  const call = failure(bind({ signal: controller.signal }).get('/'), 'BACKEND_ABORTED');
  let [ms] = (await once(clock.events, 'sleep')) as [number];
  while (ms !== 100) [ms] = (await once(clock.events, 'sleep')) as [number];
  controller.abort();
  await call;
  assert.equal(server.requests.length, 1);
});

test('a call whose headers function never resolves times out and sends nothing', async (t) => {
  const server = await startServer(t, (response) => json(response, {}));
  const { api, clock } = setUp(t, { url: server.url, headers: () => new Promise(() => undefined) });
  const call = failure(api.get('/'), 'BACKEND_TIMEOUT');
  clock.advance(5_000);
  await call;
  assert.equal(server.requests.length, 0);
});

test('closing the back ends ends calls that are under way', async (t) => {
  const server = await startServer(t, () => undefined);
  const { api, backends, clock } = setUp(t, { url: server.url });
  const call = failure(api.get('/'), 'BACKEND_ABORTED');
  await once(server.events, 'request');
  await backends.close();
  await call;
  assert.equal(clock.sleepers, 0);
});

test('a call that is over leaves nothing behind', async (t) => {
  const server = await startServer(t, (response) => json(response, {}));
  const { bind, clock } = setUp(t, { url: server.url, maxConcurrency: 1, maxWaiting: 0 });
  const { signal } = new AbortController();
  const execution = bind({ signal });
  for (let turn = 0; turn < 3; turn++) await execution.get('/');
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.equal(clock.sleepers, 0);
});
