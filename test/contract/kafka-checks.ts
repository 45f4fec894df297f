import type { TestContext } from 'node:test';
import type { KafkaDriver, RecordBatch } from '../../src/ingest/kafka/driver.ts';
import type { BrokerHandle } from './kafka-broker.ts';
import { TestMember } from './kafka-member.ts';

/** What not every Kafka of a test can do. */
export type Feature = 'transactions' | 'codecs' | 'retention' | 'headers' | 'size limit';

export interface DriverUnderTest {
  readonly driver: KafkaDriver;
  readonly broker: BrokerHandle;
}

/** A driver, with a topic, which is yet to be created, and a group of the check's own. */
export interface Check extends DriverUnderTest {
  readonly t: TestContext;
  readonly topic: string;
  readonly groupId: string;
}

/** Registers a check, unless the driver's Kafka lacks a feature that it needs. */
export type CheckFunction = (
  title: string,
  run: (under: Check) => Promise<void>,
  ...needed: Feature[]
) => void;

/** @returns a member that has joined the check's group */
export function join(
  { driver, t, topic, groupId }: Check,
  onBatch?: (batch: RecordBatch) => Promise<void>,
): Promise<TestMember> {
  return new TestMember(driver, { groupId, topics: [topic], ...(onBatch && { onBatch }) }).start(t);
}

/** Numbers as text. */
export const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => String(from + index));
