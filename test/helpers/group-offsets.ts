import { Admin } from '@platformatic/kafka';

/**
 * Sets where a group without members begins to consume. kafkajs is not used, since it takes five seconds for this.
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
