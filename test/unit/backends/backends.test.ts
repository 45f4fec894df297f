import assert from 'node:assert/strict';
import test from 'node:test';
import type { BackendDefinition } from '../../../src/graph/api/backend-definition.ts';
import { Backends } from '../../../src/backends/backends.ts';
import { createLog } from '../../../src/log.ts';
import { ownBytes } from '../../../src/support/byte-budget.ts';
import { Metrics } from '../../../src/metrics.ts';
import { recordedSpans } from '../../helpers/recorded-spans.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { backend, empty, failure, json } from './fixture.ts';

const transformKeys = { SNAKE: <T>(value: T) => value, KEEP: <T>(value: T) => value };

function create(definitions: Record<string, BackendDefinition>): Backends {
  const log = createLog('silent');
  return new Backends(definitions, {
    metrics: new Metrics(),
    log,
    answers: ownBytes(2 ** 24),
    clock: new FakeClock(),
    transformKeys,
  });
}

const call = { viewer: () => ({}), signal: () => undefined };
const url = 'http://127.0.0.1:1';

test('an execution sees each back end by its name, the same object each time', () => {
  const backends = create({ uaa: { url }, listings: { url } });
  const bound = backends.bind(call);
  assert.equal(bound['uaa'], bound['uaa']);
  assert.notEqual(bound['uaa'], bound['listings']);
  assert.notEqual(bound['uaa'], backends.bind(call)['uaa']);
  assert.ok('listings' in bound);
});

test('a name without a back end is undefined, and a back end may have any name', () => {
  const bound = create({ touch: { url }, constructor: { url }, toString: { url } }).bind(call);
  assert.equal(bound['hasOwnProperty'], undefined);
  assert.equal(bound['uaa'], undefined);
  for (const name of ['touch', 'constructor', 'toString']) assert.equal(typeof bound[name]?.get, 'function');
});

test('two gateways in one process do not see each other’s back ends', () => {
  const [one, other] = [create({ one: { url } }), create({ other: { url } })];
  assert.equal(one.bind(call)['other'], undefined);
  assert.equal(other.bind(call)['one'], undefined);
});

test('binding back ends to an execution reads neither viewer nor signal', () => {
  const read: string[] = [];
  const bound = create({ api: { url, forward: ['token'] } }).bind({
    viewer: () => read.push('viewer'),
    signal: () => void read.push('signal'),
  });
  assert.ok(bound['api']);
  assert.deepEqual(read, []);
});

test('one error names all faults of the definitions, and quotes a URL without credentials', () => {
  const definitions = {
    'not-a-name': { url },
    nowhere: { url: undefined },
    file: { url: 'file:///etc/passwd' },
    secret: { url: 'http://user:hunter2@host/' },
    queried: { url: `${url}/?a=b` },
    numbers: { url, timeoutMs: 0, retries: 1.5, maxWaiting: -1 },
    headers: { url, headers: { 'x y': 'a', good: 'a\nb' } },
    forwards: { url, headers: { Authorization: 'a' }, forward: ['token', 'a..b', 'c.d', 'c_d'] },
    keys: { url, keys: 'CAMEL' },
    typo: { url, timeout: 1 },
  } as unknown as Record<string, BackendDefinition>;
  assert.throws(
    () => create(definitions),
    (error: Error & { code?: string }) => {
      assert.equal(error.code, 'BAD_GRAPH');
      const named = error.message.matchAll(/^ {2}backends\.([\w.-]+|.*?): expected/gm);
      assert.equal(
        Array.from(named, ([, key]) => key).join(' '),
        'not-a-name nowhere.url file.url secret.url queried.url numbers.timeoutMs numbers.retries ' +
          'numbers.maxWaiting headers.headers headers.headers.good forwards.forward forwards.forward ' +
          'forwards.forward keys.keys typo.timeout',
      );
      assert.match(error.message, /secret\.url: expected .*, got "http:\/\/…@host\/"\n/);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    },
  );
});

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

test('the calls of one execution share a trace, and each has a span of its own', async (t) => {
  const { server, bind } = await backend(t, empty);
  const execution = bind();
  await execution.get('/');
  await execution.get('/');
  await bind().get('/');
  const traces = server.requests.map(({ headers }) => TRACEPARENT.exec(String(headers['traceparent'])) ?? []);
  const [ids, spans] = [1, 2].map((part) => traces.map((trace) => trace[part])) as [string[], string[]];
  assert.equal(new Set(spans).size, 3);
  assert.equal(ids[0], ids[1]);
  assert.notEqual(ids[1], ids[2]);
});

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

test('a call of a sampled execution has a span, whose id the back end gets, and which fails as the call does', async (t) => {
  const { server, bind, lines } = await backend(t, (response) => json(response, {}, 404));
  const { tracing, ended } = recordedSpans();
  const span = tracing.continued({ traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, tracestate: 'shop=a1' });
  await failure(bind({ span }).get('/items/7'), 'BACKEND_NOT_FOUND');
  const [sent] = ended();
  const { spanId } = sent?.spanContext() ?? {};
  assert.equal(server.requests[0]?.headers['traceparent'], `00-${TRACE}-${spanId}-01`);
  assert.equal(server.requests[0]?.headers['tracestate'], 'shop=a1');
  assert.deepEqual(sent?.attributes, {
    'http.request.method': 'GET',
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(server.url).port),
    'sluice.backend': 'api',
    'error.type': 'BACKEND_NOT_FOUND',
    'http.response.status_code': 404,
  });
  const line = lines.map((text) => JSON.parse(text) as Record<string, unknown>)[0];
  assert.deepEqual([line?.['trace_id'], line?.['span_id']], [TRACE, spanId]);
});

test('a call beyond the spans of its event goes on with the trace all the same', async (t) => {
  const { server, bind } = await backend(t, empty);
  const { tracing } = recordedSpans();
  const span = tracing.continued({ traceparent: `00-${TRACE}-00f067aa0ba902b7-01` });
  while (span?.begin('execute', 'INTERNAL') !== undefined);
  await bind({ span }).get('/');
  assert.equal(server.requests[0]?.headers['traceparent'], `00-${TRACE}-00f067aa0ba902b7-01`);
});
