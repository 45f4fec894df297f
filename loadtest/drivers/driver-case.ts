import { randomUUID } from 'node:crypto';

/** A Kafka client, and the group protocol that it uses. */
export interface DriverCase {
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Whether members may have static names (`group.instance.id`). */
  readonly hasNames: boolean;
}

export const DRIVER_CASES: readonly DriverCase[] = [
  { name: 'kafkajs', settings: { KAFKA_DRIVER: 'kafkajs' }, hasNames: false },
  { name: 'platformatic', settings: { KAFKA_DRIVER: 'platformatic' }, hasNames: true },
  {
    name: 'platformatic-consumer',
    settings: { KAFKA_DRIVER: 'platformatic', KAFKA_GROUP_PROTOCOL: 'consumer' },
    hasNames: true,
  },
];

export const newGroupId = (): string => `loadtest-${randomUUID().slice(0, 8)}`;
