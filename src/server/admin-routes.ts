import { Registry } from 'prom-client';
import { livez, readyz, type ReadinessChecks } from './health.ts';
import { send } from './respond.ts';
import type { Route } from './router.ts';

export interface AdminOptions {
  readonly checks: ReadinessChecks;
  readonly registry: Pick<Registry, 'contentType' | 'metrics'>;
  /** The metrics in OpenMetrics' format, for clients that accept it. Undefined: no metric needs this format. */
  readonly openMetrics?: (() => Promise<string>) | undefined;
}

/** The routes of `ADMIN_PORT` that are open to all peers: Kubernetes' probes and Prometheus. */
export function adminRoutes({ checks, ...options }: AdminOptions): Route[] {
  return [livez, readyz(checks), metrics(options)];
}

function metrics({ registry, openMetrics }: Omit<AdminOptions, 'checks'>): Route {
  return {
    path: '/metrics',
    methods: {
      GET: async ({ headers }, response) => {
        const isOpen = headers.accept?.includes('application/openmetrics-text') === true;
        if (isOpen && openMetrics !== undefined) {
          send(response, 200, Registry.OPENMETRICS_CONTENT_TYPE, await openMetrics());
        } else {
          send(response, 200, registry.contentType, await registry.metrics());
        }
      },
    },
  };
}
