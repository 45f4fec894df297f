import { setTimeout as delay } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import type { Scope } from './scope.ts';
import { kafkaBrokers } from './services.ts';

const DISCONNECT_MS = 5_000;

/** A client of the run's Kafka. What fails is told by what it is asked for; it logs nothing. Needs 'kafka'. */
export const kafkaClient = (): Kafka =>
  new Kafka({ brokers: kafkaBrokers().split(','), logLevel: logLevel.NOTHING });

/** Disconnects with its scope. kafkajs may wait for ever where the broker has ended in the same moment. */
export function disconnectAfter(scope: Scope, client: { disconnect: () => Promise<void> }): void {
  scope.after(async () => {
    const done = new AbortController();
    const late = delay(DISCONNECT_MS, undefined, { signal: done.signal }).catch(() => undefined);
    await Promise.race([client.disconnect(), late]);
    done.abort();
  });
}
