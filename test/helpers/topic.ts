import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { kafkaClient } from './kafka-client.ts';

const LONGEST_NAME = 60;

/**
 * A topic of the test's own. It stays: deleting it under consumers that the test has yet to stop makes them fail, and
 * the broker goes with the run.
 *
 * @returns its name, which begins with the test's
 */
export async function createTopic(t: TestContext, { partitions = 1 } = {}): Promise<string> {
  const slug = t.name.replaceAll(/\W+/g, '-').slice(0, LONGEST_NAME);
  const topic = `${slug}-${randomUUID().slice(0, 8)}`;
  const admin = kafkaClient().admin();
  await admin.connect();
  try {
    await admin.createTopics({ topics: [{ topic, numPartitions: partitions }], waitForLeaders: true });
  } finally {
    await admin.disconnect();
  }
  return topic;
}
