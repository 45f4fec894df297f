/** The variable of the environment that tells a worker which one it is, from 1. */
export const WORKER = 'SLUICE_WORKER';

/** One metric of one process, as prom-client hands it over. */
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

/** What the primary tells a worker. */
export type PrimaryMessage =
  | { readonly type: 'collect' }
  /** `alone`: the others go on, and take the new connections. */
  | { readonly type: 'drain'; readonly alone: boolean }
  | { readonly type: 'stop' };

/** What a worker tells the primary. */
export type WorkerMessage =
  | { readonly type: 'listening'; readonly port: number; readonly adminPort: number }
  /** Sent all the time: it also says that the event loop turns. */
  | { readonly type: 'state'; readonly notReady: readonly string[] }
  | { readonly type: 'metrics'; readonly metrics: readonly MetricSnapshot[] };
