import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../src/events/event.ts';
import type { Topic } from '../../../src/graph/graph.ts';
import { recordedSpans } from '../../helpers/recorded-spans.ts';
import { setUp } from './kafka/batch-parts.ts';
import { localSource } from './parts.ts';
import { EventSpans } from '../../../src/ingest/event-spans.ts';

const decode: Topic['decode'] = ({ value }) =>
  value.length === 0 ? null : (JSON.parse(value.toString()) as Event);

test('the spans of consumed events say what became of them, and fail for what can not be decoded', async () => {
  const { tracing, names, ended } = recordedSpans();
  const spans = new EventSpans(tracing, { 'messaging.system': 'kafka' });
  const { consume, publisher, lines } = setUp({ keys: ['id'], decode, spans });
  publisher.wants = (channel) => channel === 'bids:id=1';
  await consume(['{"id":1}', '{"id":2}', 'no', '']);
  const consumed = Array.from({ length: 4 }, () => 'process bids < –');
  assert.deepEqual(names().toSorted(), [...consumed, 'publish bids < process bids']);
  const outcomes = ended()
    .filter(({ name }) => name === 'process bids')
    .map(({ attributes }) => [
      attributes['messaging.kafka.offset'],
      attributes['sluice.outcome'] ?? attributes['error.type'],
    ]);
  assert.deepEqual(outcomes.toSorted(), [
    [0, 'published'],
    [1, 'unsubscribed'],
    [2, 'decode_failed'],
    [3, 'passed_over'],
  ]);
  const failed = ended().find(({ attributes }) => attributes['error.type'] === 'decode_failed');
  const line = lines.find((each) => each['msg'] === 'could not decode a message');
  assert.equal(line?.['trace_id'], failed?.spanContext().traceId);
  assert.equal(line?.['span_id'], failed?.spanContext().spanId);
});

test('an event is published with the span that publishes it, which lasts until the bus has acknowledged it', async () => {
  const { tracing, ended } = recordedSpans();
  const { consume, publisher } = setUp({ spans: new EventSpans(tracing, {}) });
  publisher.failing = (batch) => (publisher.attempts === 1 ? batch : []);
  await consume(['{"id":1}']);
  const [publish, process] = ended();
  assert.deepEqual([publish?.name, process?.name], ['publish bids', 'process bids']);
  const { traceId, spanId } = publish?.spanContext() ?? {};
  assert.equal(publisher.attempts, 2);
  for (const { payload } of publisher.published) {
    assert.equal((JSON.parse(payload) as { traceparent: string }).traceparent, `00-${traceId}-${spanId}-01`);
  }
});

test('an event that is taken by hand goes on with the trace that its headers name', async () => {
  const { tracing, ended } = recordedSpans();
  const { source } = localSource({ tracing });
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  await source.accept('bids', Buffer.from('{}'), undefined, { headers: { traceparent } });
  await assert.rejects(source.accept('bids', Buffer.from('no'), undefined, { headers: { traceparent } }));
  assert.deepEqual(
    ended().map(({ name, status }) => [name, status.code]),
    [
      ['publish bids', 0],
      ['process bids', 0],
      ['process bids', 2],
    ],
  );
  assert.ok(ended().every((span) => span.spanContext().traceId === traceparent.slice(3, 35)));
});
