import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { postJson } from '../helpers/http-exchange.ts';
import { OtlpCollector, treeOf } from '../helpers/otlp-collector.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { asking, post, startGraph } from './graph-gateway.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const OTHER_TRACE = '5bf92f3577b34da6a3ce929d0e0e4736';
const headersOf = (trace: string) => ({ traceparent: `00-${trace}-00f067aa0ba902b7-01` });

const send = (pod: GatewayProcess, trace: string) =>
  postJson(`${pod.httpUrl}/events/items`, { id: 1 }, headersOf(trace));

const SCHEMA = `
  type Query { hello: String }
  type Subscription { item: Item @event(topic: "items") }
  type Item { id: ID! broken: ID }
`;

let collector: OtlpCollector;

const traced = sharedGateway(async (scope) => {
  collector = await OtlpCollector.start(scope);
  const files = {
    'schema.graphql': SCHEMA,
    'graph.js': `
      import { defineGraph } from 'sluice';
      const broken = () => { throw new Error('on purpose'); };
      export default defineGraph({ resolvers: { Item: { broken } } });
    `,
  };
  return startGraph(scope, files, {
    ...collector.settings,
    OTEL_SERVICE_NAME: 'live-items',
    OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=items-0,service.version=7',
  });
});

test('a request and an event by hand are traced by variables alone, which name the service too', async (t) => {
  const pod = await traced();
  const received = asking(t, pod, 'subscription { item { id } }');
  await pod.untilMetric('sluice_subscribers', 1);

  await send(pod, TRACE);
  await received.until(1);
  await post(pod, { query: 'query Greeting { hello }' }, headersOf(TRACE));

  await eventually(async () => {
    const metrics = await fetch(`${pod.adminUrl}/metrics`, {
      headers: { accept: 'application/openmetrics-text;version=1.0.0' },
    });
    assert.match(
      await metrics.text(),
      new RegExp(`^sluice_event_delay_seconds_bucket\\{le="\\S+"\\} 1 # \\{trace_id="${TRACE}",`, 'm'),
    );
  });

  const spans = await collector.until(7, TRACE);
  assert.deepEqual(treeOf(spans), [
    'POST /graphql (live-items)',
    '  execute query (live-items)',
    'process items (live-items)',
    '  publish items (live-items)',
    '    dispatch item (live-items)',
    '      execute item (live-items)',
    '      write item (live-items)',
  ]);
  assert.equal(
    spans.find(({ name }) => name === 'execute query')?.attributes['graphql.operation.name'],
    'Greeting',
  );
  assert.deepEqual(
    ['service.name', 'k8s.pod.name', 'service.version'].map((name) => spans[0]?.resource[name]),
    ['live-items', 'items-0', '7'],
  );
});

test('the log names the trace of an event whose field could not be resolved', async (t) => {
  const pod = await traced();
  const received = asking(t, pod, 'subscription { item { broken } }');
  await pod.untilMetric('sluice_subscribers', 1);
  await send(pod, OTHER_TRACE);
  await received.until(1);
  const line = await pod.untilLine(({ msg }) => msg === 'a field could not be resolved');
  const spans = await collector.until(5, OTHER_TRACE);
  const execute = spans.find(({ name }) => name === 'execute item');
  assert.deepEqual([line['trace_id'], line['span_id']], [OTHER_TRACE, execute?.spanId]);
  assert.deepEqual([execute?.status.code, execute?.attributes['error.type']], [2, 'INTERNAL_SERVER_ERROR']);
});

test('with the console as the exporter, each span is a line of the log', async (t) => {
  const settings = { OTEL_TRACES_EXPORTER: 'console', OTEL_BSP_SCHEDULE_DELAY: '100' };
  const pod = await startGraph(t, { 'schema.graphql': SCHEMA }, settings);
  await send(pod, TRACE);
  const process = await pod.untilLine(({ msg }) => msg === 'process items');
  const publish = await pod.untilLine(({ msg }) => msg === 'publish items');
  assert.deepEqual([process['trace_id'], process['parent_id']], [TRACE, '00f067aa0ba902b7']);
  assert.equal(publish['parent_id'], process['span_id']);
  assert.ok(Number(process['ms']) >= Number(publish['ms']));
  assert.deepEqual(pod.printed, []);
});

test('a collector that is away is told in the log, and holds up neither events nor the end', async (t) => {
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  const pod = await startGraph(t, { 'schema.graphql': SCHEMA }, settings);
  const received = asking(t, pod, 'subscription { item { id } }');
  await pod.untilMetric('sluice_subscribers', 1);
  await pod.postEvent('items', { id: 1 });
  await received.until(1);
  await pod.untilLine(({ msg }) => msg === 'OpenTelemetry reports a fault');
  assert.equal(await pod.stop(), 0);
});
