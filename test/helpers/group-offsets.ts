import { Admin } from '@platformatic/kafka';

/**
 * Where a group that has no members begins to consume. Not by kafkajs, which takes five seconds for it.
 *
 * @param offsets by partition
 */
export async function beginAt(
  brokers: string,
  groupId: string,
  topic: string,
  offsets: Readonly<Record<number, number>>,
): Promise<void> {
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: brokers.split(',') });
  const partitionOffsets = Object.entries(offsets).map(([partition, offset]) => ({
    partition: Number(partition),
    offset: BigInt(offset),
  }));
  try {
    await admin.alterConsumerGroupOffsets({ groupId, topics: [{ name: topic, partitionOffsets }] });
  } finally {
    await admin.close();
  }
}
