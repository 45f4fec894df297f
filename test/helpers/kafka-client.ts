import { setTimeout as delay } from 'node:timers/promises';
import { Kafka, logLevel, Partitioners, type Admin, type Producer, type ProducerConfig } from 'kafkajs';
import type { Scope } from './scope.ts';
import { kafkaBrokers } from './services.ts';

const DISCONNECT_MS = 5_000;

/** A client of the run's Kafka, which logs nothing: callers get its errors. Needs 'kafka'. */
export const kafkaClient = (): Kafka =>
  new Kafka({ brokers: kafkaBrokers().split(','), logLevel: logLevel.NOTHING });

/** Disconnects with its scope. kafkajs may wait for ever if the broker has ended in the same moment. */
export function disconnectAfter(scope: Scope, client: { disconnect: () => Promise<void> }): void {
  scope.after(async () => {
    const done = new AbortController();
    const late = delay(DISCONNECT_MS, undefined, { signal: done.signal }).catch(() => undefined);
    await Promise.race([client.disconnect(), late]);
    done.abort();
  });
}

/** Connected until its scope ends. */
export async function kafkaAdmin(scope: Scope, kafka = kafkaClient()): Promise<Admin> {
  const admin = kafka.admin();
  disconnectAfter(scope, admin);
  await admin.connect();
  return admin;
}

/** Connected until its scope ends. */
export async function kafkaProducer(
  scope: Scope,
  kafka = kafkaClient(),
  options: ProducerConfig = {},
): Promise<Producer> {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, ...options });
  disconnectAfter(scope, producer);
  await producer.connect();
  return producer;
}

/** The offsets that a group has committed on a topic, summed over all partitions. */
export async function committedBy(admin: Admin, groupId: string, topic: string): Promise<number> {
  const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
  return (offsets?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
}
