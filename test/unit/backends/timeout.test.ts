import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import test from 'node:test';
import { backend, empty, failure, json, silence, silentTls, statuses } from './fixture.ts';

const undici = createRequire(import.meta.url)('undici/lib/util/timers.js') as { tick(ms?: number): void };

/** Lets time pass on undici's own clock, which notices a timer at its first tick. */
function passInUndici(ms: number): void {
  undici.tick();
  undici.tick(ms);
}

for (const [what, definition, call, timeoutMs] of [
  ['its time is over', { timeoutMs: 10_000 }, {}, 10_000],
  ['the time of its own is over', {}, { timeoutMs: 60_000 }, 60_000],
] as const) {
  test(`a call that gets no answer ends when ${what}`, async (t) => {
    const { server, api, clock } = await backend(t, silence, definition);
    const ended = failure(api.get('/', call), 'BACKEND_TIMEOUT');
    await once(server.events, 'request');
    clock.advance(timeoutMs - 1);
    assert.equal(clock.sleepers, 1);
    clock.advance(1);
    await ended;
    assert.equal(server.requests.length, 1, 'no time is left for another try');
    assert.equal(clock.sleepers, 0);
  });
}

test('when the body of an answer does not end, the call times out and its connection is closed', async (t) => {
  const { server, api, clock } = await backend(t, (response) => {
    response.writeHead(200).write('[1,');
    response.on('close', () => server.events.emit('closed'));
  });
  const call = failure(api.get('/'), 'BACKEND_TIMEOUT');
  await once(server.events, 'request');
  const closed = once(server.events, 'closed');
  clock.advance(5_000);
  await call;
  await closed;
});

test('a try without headers in time has failed, and another one follows', async (t) => {
  let tries = 0;
  const answer = (response: ServerResponse) => {
    tries += 1;
    if (tries === 2) json(response, 'good');
  };
  const { server, api } = await backend(t, answer, { headersTimeoutMs: 3_000 });
  const call = api.get('/');
  await once(server.events, 'request');
  passInUndici(3_000);
  assert.equal(await call, 'good');
  assert.equal(tries, 2);
});

test('a connection that takes too long is a try that failed', async (t) => {
  const { server, api } = await silentTls(t, { connectTimeoutMs: 2_000, retries: 0 });
  const call = failure(api.get('/'), 'BACKEND_UNAVAILABLE');
  await once(server, 'connection');
  passInUndici(2_000);
  assert.match(String((await call).cause), /Connect Timeout/);
});

test('an execution that is given up ends its calls at once', async (t) => {
  const { server, bind, clock, lines } = await backend(t, (response) => {
    response.on('close', () => server.events.emit('closed'));
  });
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
  const { server, bind } = await backend(t, empty);
  await failure(bind({ signal: AbortSignal.abort() }).get('/'), 'BACKEND_ABORTED');
  assert.equal(server.requests.length, 0);
});

test('giving up an execution ends its wait for the next try', async (t) => {
  const { server, bind, clock } = await backend(t, statuses(503));
  clock.patience = 0;
  const controller = new AbortController();
  const call = failure(bind({ signal: controller.signal }).get('/'), 'BACKEND_ABORTED');
  let ms = 0;
  while (ms !== 100) [ms] = (await once(clock.events, 'sleep')) as [number];
  controller.abort();
  await call;
  assert.equal(server.requests.length, 1);
});

test('a call whose headers function never resolves times out and sends nothing', async (t) => {
  const { server, api, clock } = await backend(t, empty, { headers: () => new Promise(() => undefined) });
  const call = failure(api.get('/'), 'BACKEND_TIMEOUT');
  clock.advance(5_000);
  await call;
  assert.equal(server.requests.length, 0);
});

test('closing the back ends ends calls that are under way', async (t) => {
  const { server, api, backends, clock } = await backend(t, silence);
  const call = failure(api.get('/'), 'BACKEND_ABORTED');
  await once(server.events, 'request');
  await backends.close();
  await call;
  assert.equal(clock.sleepers, 0);
});

test('a call that is over leaves nothing behind', async (t) => {
  const { bind, clock } = await backend(t, empty, { maxConcurrency: 1, maxWaiting: 0 });
  const { signal } = new AbortController();
  const execution = bind({ signal });
  for (let turn = 0; turn < 3; turn++) await execution.get('/');
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  assert.equal(clock.sleepers, 0);
});
