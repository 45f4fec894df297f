import type { Route } from './router.ts';
import { sendJson } from './respond.ts';

/** @returns the reasons why this pod must not get connections; empty if it may */
export type ReadinessChecks = () => readonly string[];

/** Any response shows that the event loop turns: here this is liveness. */
export const livez: Route = {
  path: '/livez',
  methods: { GET: (_request, response) => sendJson(response, 200, { alive: true }) },
};

export function readyz(checks: ReadinessChecks): Route {
  return {
    path: '/readyz',
    methods: {
      GET: (_request, response) => {
        const reasons = checks();
        const ready = reasons.length === 0;
        sendJson(response, ready ? 200 : 503, { ready, reasons }, { 'cache-control': 'no-store' });
      },
    },
  };
}
