import kafkajs, { type Admin, type Kafka } from '#kafkajs';
import type { GroupDescription } from '../driver.ts';
import type { PartitionRange } from './partition-buffer.ts';

/** Error codes of Kafka's protocol. */
const NON_EMPTY_GROUP = 68;
const GROUP_ID_NOT_FOUND = 69;

/** The topics that do not exist, or that this user may not describe. Creates none. */
export async function missingTopics(kafka: Kafka, wanted: readonly string[]): Promise<string[]> {
  const known = new Set(await allTopics(kafka));
  return wanted.filter((topic) => !known.has(topic));
}

/** All topics that this user may describe. */
export function allTopics(kafka: Kafka): Promise<readonly string[]> {
  return withAdmin(kafka, (admin) => admin.listTopics());
}

/**
 * Returns the offsets that a topic holds at the moment, up to the first transaction that is still open.
 *
 * @param from by partition, the offset to begin at
 */
export function topicRanges(
  kafka: Kafka,
  topic: string,
  from: ReadonlyMap<number, number>,
): Promise<PartitionRange[]> {
  return withAdmin(kafka, async (admin) => {
    const offsets = await admin.fetchTopicOffsets(topic);
    return offsets
      .map(({ partition, low, high }) => ({
        topic,
        partition,
        start: Math.max(Number(low), from.get(partition) ?? 0),
        end: Number(high),
      }))
      .toSorted((one, other) => one.partition - other.partition);
  });
}

/**
 * Deletes a group, and with it its committed offsets, if it has no live members: the broker refuses it otherwise, so pods
 * that start together can't delete each other's offsets.
 *
 * @returns whether the group is now without offsets
 */
export function forgetGroup(kafka: Kafka, groupId: string): Promise<boolean> {
  return withAdmin(kafka, async (admin) => {
    try {
      await admin.deleteGroups([groupId]);
      return true;
    } catch (thrown) {
      const code =
        thrown instanceof kafkajs.KafkaJSDeleteGroupsError ? thrown.groups[0]?.errorCode : undefined;
      if (code === GROUP_ID_NOT_FOUND) return true;
      if (code === NON_EMPTY_GROUP) return false;
      throw thrown;
    }
  });
}

/** The state that a broker reports of a group that it does not know under the classic protocol. */
const NOT_CLASSIC = 'Dead';
const NO_OFFSET = '-1';

export function describeGroup(
  kafka: Kafka,
  groupId: string,
  topics: readonly string[],
): Promise<GroupDescription> {
  return withAdmin(kafka, async (admin) => {
    const found = await admin.fetchOffsets({ groupId, topics: [...topics] });
    const positions = found.flatMap(({ partitions }) => partitions);
    const texts = positions.filter(({ offset }) => offset !== NO_OFFSET).map(({ metadata }) => metadata);
    const { groups } = await admin.describeGroups([groupId]);
    const [group] = groups;
    // An unknown group with positions uses the protocol of KIP-848: kafkajs can't ask for its members.
    const mayHaveMembers = group?.state === NOT_CLASSIC && texts.length > 0;
    return { hasMembers: mayHaveMembers || (group?.members.length ?? 0) > 0, texts };
  });
}

async function withAdmin<T>(kafka: Kafka, use: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}
