import { openMetrics } from '../metrics/open-metrics.ts';
import { adminRoutes } from '../server/admin-routes.ts';
import { memoryOfProcess } from '../server/debug/heap-snapshot.ts';
import { debugRoutes, type DebugOptions } from '../server/debug/routes.ts';
import type { ReadinessChecks } from '../server/health.ts';
import { revokeRoute } from '../server/revoke-route.ts';
import { HttpServer } from '../server/http-server.ts';
import { Router } from '../server/router.ts';
import type { Basics } from './basics.ts';
import type { Revoking } from './revoking.ts';

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
