import type { Registry } from 'prom-client';
import type { Revocation } from '../auth/revocations.ts';
import type { Log } from '../log.ts';
import { snapshotOf } from './aggregated-metrics.ts';
import type { PrimaryMessage, WorkerMessage } from './messages.ts';

/** The part of Gateway that a worker process uses. */
interface Pod {
  readonly status: { readonly registry: Registry; notReady(): readonly string[] };
  /** Called with the revocations that the primary keeps, before `start`, and then with each new one. */
  revoked(revocations: readonly Revocation[]): void;
  start(): Promise<{ readonly port: number; readonly adminPort: number }>;
  drain(how: { alone: boolean }): Promise<void>;
  stop(): Promise<void>;
}

/** How often a worker sends its state. */
const STATE_MS = 500;

/**
 * Terminals and service managers send these signals to all processes. Workers ignore the signals: the primary sends a
 * message instead.
 */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Runs a gateway as one worker of several, until the primary ends it. If the primary dies, this process exits, too. */
export async function runWorker(pod: Pod, log: Log): Promise<void> {
  for (const signal of SIGNALS) process.on(signal, () => undefined);
  let ending = false;
  let onTold!: () => void;
  const told = new Promise<void>((resolve) => (onTold = resolve));
  process.on('message', (message: PrimaryMessage) => {
    if (message.type === 'collect') void sendMetrics(pod);
    else if (message.type === 'revocations') {
      pod.revoked(message.revocations);
      onTold();
    } else if (!ending) {
      ending = true;
      void end(pod, message.type === 'drain' ? () => pod.drain(message) : () => pod.stop(), log);
    }
  });
  await send({ type: 'starting' });
  await told;
  const { port, adminPort } = await pod.start();
  await send({ type: 'listening', port, adminPort });
  const sendState = (): void => void send({ type: 'state', notReady: pod.status.notReady() });
  sendState();
  setInterval(sendState, STATE_MS).unref();
}

async function end(pod: Pod, stop: () => Promise<void>, log: Log): Promise<void> {
  try {
    await stop();
    // The primary adds these metrics to the counters of the pod.
    await sendMetrics(pod);
    process.exit(0);
  } catch (error) {
    log.error({ err: error }, 'stopping failed');
    process.exit(1);
  }
}

async function sendMetrics({ status }: Pod): Promise<void> {
  await send({ type: 'metrics', metrics: await snapshotOf(status.registry) });
}

/** Sends a message to the primary. Resolves when the message is written, or is dropped as the primary has died. */
function send(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
    else resolve();
  });
}
