import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Metrics } from '../../../src/metrics.ts';
import { openMetrics } from '../../../src/gateway/admin-server.ts';
import { adminRoutes } from '../../../src/server/admin-routes.ts';
import type { Scope } from '../../helpers/scope.ts';
import { ask, serve } from './serve.ts';

const served = (scope: Scope, reasons: readonly string[], metrics = new Metrics()): Promise<number> =>
  serve(scope, adminRoutes({ checks: () => reasons, registry: metrics.registry }));

describe('the admin port', () => {
  it('turns ready and unready with its checks, says why, and is alive in any case', async (t) => {
    const reasons = ['Kafka has not been joined'];
    const port = await served(t, reasons);
    const isReady = async () => {
      const { status, body } = await ask(port, '/readyz');
      assert.equal((await ask(port, '/livez')).status, 200);
      return [status, JSON.parse(body)] as const;
    };
    assert.deepEqual(await isReady(), [503, { ready: false, reasons: ['Kafka has not been joined'] }]);
    reasons.pop();
    assert.deepEqual(await isReady(), [200, { ready: true, reasons: [] }]);
  });

  it('shows the metrics in the format of Prometheus, and has no routes of the public port', async (t) => {
    const metrics = new Metrics();
    metrics.connections.set(3);
    const port = await served(t, [], metrics);
    const { status, headers, body } = await ask(port, '/metrics');
    assert.equal(status, 200);
    assert.match(headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(body, /^sluice_connections 3$/m);
    assert.equal((await ask(port, '/graphql', { method: 'POST' })).status, 404);
  });

  it('names traces of delayed events to those that take OpenMetrics, where events are traced', async (t) => {
    const metrics = new Metrics(true);
    const trace = { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', span_id: '00f067aa0ba902b7' };
    metrics.observeEvent(0.003, undefined, trace);
    metrics.observeEvent(0.7, undefined);
    metrics.events.inc({ topic: 'bids' }, 2);
    const { registry } = metrics;
    const routes = adminRoutes({ checks: () => [], registry, openMetrics: () => openMetrics(registry) });
    const port = await serve(t, routes);
    // As Prometheus asks.
    const accept = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2';
    for (const attempt of [1, 2]) {
      const open = await ask(port, '/metrics', { headers: { accept } });
      assert.match(open.headers['content-type'] ?? '', /^application\/openmetrics-text; version=1\.0\.0/);
      assert.match(
        open.body,
        /^sluice_event_delay_seconds_bucket\{le="0\.005"\} 1 # \{trace_id="4bf92f3577b34da6a3ce929d0e0e4736",span_id="00f067aa0ba902b7"\} 0\.003 /m,
        `attempt ${attempt}`,
      );
      assert.match(open.body, /^sluice_event_delay_seconds_bucket\{le="1"\} 2$/m);
      assert.match(open.body, /^sluice_events_total\{topic="bids"\} 2$/m);
      assert.match(open.body, /^# TYPE sluice_events counter$/m);
      assert.ok(open.body.endsWith('\n# EOF\n'));
      const text = await ask(port, '/metrics');
      assert.match(text.headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
      assert.match(text.body, /^sluice_event_delay_seconds_bucket\{le="0\.005"\} 1$/m);
      assert.match(text.body, /^sluice_events_total\{topic="bids"\} 2$/m);
    }
  });
});
