import type { Registry } from 'prom-client';
import type { Log } from '../log.ts';
import { snapshotOf } from './added-metrics.ts';
import type { PrimaryMessage, WorkerMessage } from './messages.ts';

/** A gateway as its process runs it. */
interface Pod {
  readonly status: { readonly registry: Registry; notReady(): readonly string[] };
  start(): Promise<{ readonly port: number; readonly adminPort: number }>;
  drain(how: { alone: boolean }): Promise<void>;
  stop(): Promise<void>;
}

const STATE_MS = 500;

/** Signals reach all processes of a terminal or a service: they are the primary's to act on, and orders come from it. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Runs a gateway as one worker of several, until the primary has it end. If the primary dies, so does this process. */
export async function runWorker(pod: Pod, log: Log): Promise<void> {
  for (const signal of SIGNALS) process.on(signal, () => undefined);
  let ending = false;
  process.on('message', (order: PrimaryMessage) => {
    if (order.type === 'collect') void reportMetrics(pod);
    else if (!ending) {
      ending = true;
      void end(pod, order.type === 'drain' ? () => pod.drain(order) : () => pod.stop(), log);
    }
  });
  const { port, adminPort } = await pod.start();
  await report({ type: 'listening', port, adminPort });
  const tellState = (): void => void report({ type: 'state', notReady: pod.status.notReady() });
  tellState();
  setInterval(tellState, STATE_MS).unref();
}

async function end(pod: Pod, stop: () => Promise<void>, log: Log): Promise<void> {
  try {
    await stop();
    // What has been counted since the last time must not be lost.
    await reportMetrics(pod);
    process.exit(0);
  } catch (error) {
    log.error({ err: error }, 'stopping failed');
    process.exit(1);
  }
}

async function reportMetrics({ status }: Pod): Promise<void> {
  await report({ type: 'metrics', metrics: await snapshotOf(status.registry) });
}

/** Resolves when it is under way; without the primary there is nobody to tell. */
function report(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
    else resolve();
  });
}
