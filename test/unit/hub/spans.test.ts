import assert from 'node:assert/strict';
import { GraphQLError } from 'graphql';
import test from 'node:test';
import { recordedSpans } from '../../helpers/recorded-spans.ts';
import { operation, settled, setUp } from './parts.ts';
import { deferred } from '../../helpers/deferred.ts';

const asked = operation();
const TRACED = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };

test('an event of a sampled trace has spans for each group: its dispatch, its executions and one write for all', () => {
  const { tracing, names, ended } = recordedSpans();
  const { bus, join } = setUp({ tracing });
  join(asked, { id: 'a' });
  join(asked, { id: 'a' });
  join(asked, { id: ['a', 'b'] });
  bus.carry('bids:id=a', 0, {}, TRACED);
  const group = ['execute bid < dispatch bid', 'write bid < dispatch bid', 'dispatch bid < –'];
  assert.deepEqual(names(), [...group, ...group]);
  const writes = ended().filter(({ name }) => name === 'write bid');
  const deliveries = writes.map(({ attributes }) => attributes['sluice.deliveries']);
  assert.deepEqual(deliveries, [2, 1]);
  assert.ok(ended().every((span) => span.spanContext().traceId === TRACED.traceparent.slice(3, 35)));
});

test('an event without a trace has no spans, nor has one whose trace is not sampled or malformed', () => {
  const { tracing, ended } = recordedSpans();
  const { bus, join } = setUp({ tracing });
  const { subscriber } = join(asked, { id: 'a' });
  const others = [TRACED.traceparent.replace(/01$/, '00'), 'no', 7].map((traceparent) => ({ traceparent }));
  for (const [offset, rest] of [{}, ...others].entries()) bus.carry('bids:id=a', offset, {}, rest);
  assert.equal(subscriber.results.length, 4);
  assert.deepEqual(ended(), []);
});

test('an execution that takes its time has its span until it is over, and fails with the code of its error', async () => {
  const { tracing, names, ended } = recordedSpans();
  const { promise, resolve } = deferred();
  const error = new GraphQLError('no seller', { extensions: { code: 'BACKEND_TIMEOUT' } });
  const slow = () => promise.then(() => ({ data: null, errors: [error] }));
  const { bus, join } = setUp({ tracing, execute: slow });
  join(asked, { id: 'a' });
  bus.carry('bids:id=a', 0, {}, TRACED);
  await settled();
  assert.deepEqual(names(), []);
  resolve();
  await settled();
  assert.deepEqual(names().toSorted(), [
    'dispatch bid < –',
    'execute bid < dispatch bid',
    'write bid < dispatch bid',
  ]);
  const execute = ended().find(({ name }) => name === 'execute bid');
  assert.deepEqual(execute?.status, { code: 2, message: 'no seller' });
  assert.equal(execute.attributes['error.type'], 'BACKEND_TIMEOUT');
});

test('a message whose tracestate is no text is delivered and traced all the same', () => {
  const { tracing, ended } = recordedSpans();
  const { bus, join } = setUp({ tracing });
  const { subscriber } = join(asked, { id: 'a' });
  bus.carry('bids:id=a', 0, {}, { ...TRACED, tracestate: 7 });
  assert.equal(subscriber.results.length, 1);
  assert.equal(ended().length, 3);
});
