import type { Revocation } from '../auth/revocations.ts';

/** Environment variable with the number of a worker, from 1. */
export const WORKER = 'SLUICE_WORKER';

/** One metric of one process, as prom-client exports it. */
export interface MetricSnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: string;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number>>;
    readonly metricName?: string;
  }[];
}

/** A message from the primary to a worker. */
export type PrimaryMessage =
  /** The worker is to send its metrics. */
  | { readonly type: 'collect' }
  /** The worker is to drain and exit. `alone`: the other workers go on, and accept the new connections. */
  | { readonly type: 'drain'; readonly alone: boolean }
  /** Revocations of viewers: all kept ones in answer to `starting`, and then each new one. */
  | { readonly type: 'revocations'; readonly revocations: readonly Revocation[] }
  /** The worker is to stop and exit without draining. */
  | { readonly type: 'stop' };

/** A message from a worker to the primary. */
export type WorkerMessage =
  /** The worker accepts no client before the primary has sent it the revocations. */
  | { readonly type: 'starting' }
  | { readonly type: 'listening'; readonly port: number; readonly adminPort: number }
  /** Sent periodically; it also shows that the worker's event loop turns. */
  | { readonly type: 'state'; readonly notReady: readonly string[] }
  | { readonly type: 'metrics'; readonly metrics: readonly MetricSnapshot[] };
