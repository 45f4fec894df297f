import type { Registry } from 'prom-client';
import { livez, readyz, type ReadinessChecks } from './health.ts';
import { send } from './respond.ts';
import type { Route } from './router.ts';

export interface AdminOptions {
  readonly checks: ReadinessChecks;
  readonly registry: Pick<Registry, 'contentType' | 'metrics'>;
}

/** The routes of `ADMIN_PORT` that are open to all peers: Kubernetes' probes and Prometheus. */
export function adminRoutes({ checks, registry }: AdminOptions): Route[] {
  return [livez, readyz(checks), metrics(registry)];
}

function metrics(registry: AdminOptions['registry']): Route {
  return {
    path: '/metrics',
    methods: {
      GET: async (_request, response) => send(response, 200, registry.contentType, await registry.metrics()),
    },
  };
}
