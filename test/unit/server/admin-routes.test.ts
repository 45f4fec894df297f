import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Metrics } from '../../../src/metrics.ts';
import { adminRoutes } from '../../../src/server/admin-routes.ts';
import { ask, serve } from './serve.ts';

describe('the admin port', () => {
  it('is alive though it is not ready', async (t) => {
    const port = await serve(
      t,
      adminRoutes({ checks: () => ['draining'], registry: new Metrics().registry }),
    );
    assert.equal((await ask(port, '/livez')).status, 200);
  });

  it('turns ready and unready with its checks, and says why', async (t) => {
    const reasons = ['Kafka has not been joined'];
    const port = await serve(t, adminRoutes({ checks: () => reasons, registry: new Metrics().registry }));
    const before = await ask(port, '/readyz');
    assert.equal(before.status, 503);
    assert.deepEqual(JSON.parse(before.body), { ready: false, reasons: ['Kafka has not been joined'] });
    reasons.pop();
    const after = await ask(port, '/readyz');
    assert.equal(after.status, 200);
    assert.deepEqual(JSON.parse(after.body), { ready: true, reasons: [] });
  });

  it('shows the metrics in the format of Prometheus', async (t) => {
    const metrics = new Metrics();
    metrics.connections.set(3);
    const port = await serve(t, adminRoutes({ checks: () => [], registry: metrics.registry }));
    const { status, headers, body } = await ask(port, '/metrics');
    assert.equal(status, 200);
    assert.match(headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(body, /^sluice_connections 3$/m);
  });

  it('has no routes of the public port', async (t) => {
    const port = await serve(t, adminRoutes({ checks: () => [], registry: new Metrics().registry }));
    assert.equal((await ask(port, '/graphql', { method: 'POST' })).status, 404);
  });
});
