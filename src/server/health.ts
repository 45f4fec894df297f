import type { Route } from './router.ts';
import { sendJson } from './respond.ts';

/** @returns why this pod should not get connections, each reason a sentence; empty when it may */
export type ReadinessChecks = () => readonly string[];

/** Alive means that the event loop turns: whoever can answer at all is. */
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
