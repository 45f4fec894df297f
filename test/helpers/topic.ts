import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Admin, ITopicConfig } from 'kafkajs';
import { eventually } from './eventually.ts';
import { kafkaClient } from './kafka-client.ts';

const LONGEST_NAME = 60;

/** Resolves when all partitions of these topics have leaders that answer. */
export async function createTopics(admin: Admin, topics: ITopicConfig[]): Promise<void> {
  await admin.createTopics({ topics, waitForLeaders: false });
  // A busy broker may not know its new topics for some time, and tells of leaders before they lead.
  for (const { topic } of topics) await eventually(() => admin.fetchTopicOffsets(topic));
}

/**
 * A topic of the test's own. It is not deleted: consumers that the test has yet to stop would fail, and the broker ends
 * with the run.
 *
 * @returns the topic's name, which begins with the test's name
 */
export async function createTopic(t: TestContext, { partitions = 1 } = {}): Promise<string> {
  const slug = t.name.replaceAll(/\W+/g, '-').slice(0, LONGEST_NAME);
  const topic = `${slug}-${randomUUID().slice(0, 8)}`;
  const admin = kafkaClient().admin();
  await admin.connect();
  try {
    await createTopics(admin, [{ topic, numPartitions: partitions }]);
  } finally {
    await admin.disconnect();
  }
  return topic;
}
