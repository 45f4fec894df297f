import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base';
import { recordedSpans } from '../../helpers/recorded-spans.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('a span goes on with the trace that it is given, and hands it on with its own id', () => {
  const { tracing, ended } = recordedSpans();
  const from = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'shop=a1,other=b2' };
  const span = tracing.begin('process bids', 'CONSUMER', {}, from);
  const spanId = span?.loggedIds.span_id;
  assert.deepEqual(span?.fields, { traceparent: `00-${TRACE}-${spanId}-01`, tracestate: 'shop=a1,other=b2' });
  span.end();
  assert.equal(ended()[0]?.parentSpanContext?.spanId, SPAN);
  assert.equal(ended()[0]?.spanContext().traceId, TRACE);
});

for (const [what, traceparent] of [
  ['that is too short', `00-${TRACE.slice(16)}-${SPAN}-01`],
  ['with a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['with a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['of the forbidden version', `ff-${TRACE}-${SPAN}-01`],
  ['of version 00 with more than it has', `00-${TRACE}-${SPAN}-01-more`],
  ['in capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
] as const) {
  test(`a traceparent ${what} counts as absent`, () => {
    const { tracing, ended } = recordedSpans();
    tracing.begin('process bids', 'CONSUMER', {}, { traceparent })?.end();
    assert.equal(ended()[0]?.parentSpanContext, undefined);
    assert.notEqual(ended()[0]?.spanContext().traceId, TRACE);
    assert.equal(tracing.continued({ traceparent }), undefined);
  });
}

test('a traceparent of a later version is taken, though more follows than is known of it', () => {
  const { tracing } = recordedSpans();
  const span = tracing.begin('process bids', 'CONSUMER', {}, { traceparent: `01-${TRACE}-${SPAN}-01-more` });
  assert.equal(span?.loggedIds.trace_id, TRACE);
});

test('what its sender has not sampled is not sampled here either; without a trace the sampler of the process decides', () => {
  const { tracing } = recordedSpans();
  const from = { traceparent: `00-${TRACE}-${SPAN}-00` };
  assert.equal(tracing.begin('process bids', 'CONSUMER', {}, from), undefined);
  assert.equal(tracing.continued(from), undefined);
  const off = recordedSpans(new AlwaysOffSampler());
  assert.equal(off.tracing.begin('process bids', 'CONSUMER', {}, {}), undefined);
});

test('an event has at most 100 spans in a process, however many groups it is for', () => {
  const { tracing, ended } = recordedSpans();
  const place = tracing.continued({ traceparent: `00-${TRACE}-${SPAN}-01` });
  for (let group = 0; group < 80; group += 1) {
    const dispatch = place?.begin('dispatch', 'INTERNAL');
    dispatch?.begin('execute', 'INTERNAL')?.end();
    dispatch?.end();
  }
  assert.equal(ended().length, 100);
});
