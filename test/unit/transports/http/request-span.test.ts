import assert from 'node:assert/strict';
import test from 'node:test';
import { recordedSpans } from '../../../helpers/recorded-spans.ts';
import { withRequestSpan } from '../../../../src/transports/http/transport.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const HEADERS = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };

const refuse = async () => ({ status: 403, headers: {}, body: '' });
const fail = () => Promise.reject(new Error('on purpose'));

test("a request's span goes on with the trace of its client, and has the status", async () => {
  const { tracing, ended } = recordedSpans();
  await withRequestSpan(tracing, { headers: HEADERS }, 'POST', refuse);
  const [span] = ended();
  assert.equal(span?.name, 'POST /graphql');
  assert.equal(span.parentSpanContext?.spanId, '00f067aa0ba902b7');
  assert.equal(span.attributes['http.response.status_code'], 403);
});

test('a request that fails ends its span', async () => {
  const { tracing, ended } = recordedSpans();
  await assert.rejects(withRequestSpan(tracing, { headers: HEADERS }, 'GET', fail), /on purpose/);
  assert.equal(ended()[0]?.name, 'GET /graphql');
});
