import { adminRoutes } from '../server/admin-routes.ts';
import { memoryOfProcess } from '../server/debug/heap-snapshot.ts';
import { debugRoutes, type DebugOptions } from '../server/debug/routes.ts';
import type { ReadinessChecks } from '../server/health.ts';
import { revokeRoute } from '../server/revoke-route.ts';
import { HttpServer } from '../server/http-server.ts';
import { Router } from '../server/router.ts';
import type { Basics } from './basics.ts';
import type { Revoking } from './revoking.ts';
import { Registry, type Metric, type OpenMetricsContentType } from 'prom-client';

/** Creates the server for Kubernetes, Prometheus and engineers. */
export async function createAdminServer(
  { config, metrics, log, tracing }: Basics,
  checks: ReadinessChecks,
  inspectable: DebugOptions['inspectable'],
  revoke: Revoking['revoke'],
  worker: boolean,
): Promise<HttpServer> {
  const { registry } = metrics;
  const httpLog = log.child({ part: 'http' });
  const debug = await debugRoutes({ inspectable, memory: memoryOfProcess, log: httpLog });
  const routes = [
    ...adminRoutes({ checks, registry, openMetrics: tracing && (() => openMetrics(registry)) }),
    revokeRoute(revoke, config.AUTH_REVOKED_SECONDS * 1000),
    ...debug,
  ];
  return new HttpServer({
    port: worker ? 0 : config.ADMIN_PORT,
    local: worker,
    setting: 'ADMIN_PORT',
    address: config.ADMIN_BIND,
    addressSetting: 'ADMIN_BIND',
    handle: new Router(routes, httpLog).handle,
  });
}

/**
 * Writes a registry's metrics in OpenMetrics' text format, which has exemplars. Writes them from a copy, as a registry
 * that writes this format renames its counters.
 */
export async function openMetrics(registry: Pick<Registry, 'getMetricsAsJSON'>): Promise<string> {
  const open = new Registry<OpenMetricsContentType>();
  open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const metric of await registry.getMetricsAsJSON()) {
    const name = String(metric.type) === 'counter' ? metric.name.replace(/_total$/, '') : metric.name;
    open.registerMetric({ name: metric.name, get: async () => ({ ...metric, name }) } as unknown as Metric);
  }
  return open.metrics();
}
