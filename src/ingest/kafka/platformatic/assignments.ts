import { Reader, Writer } from '#@platformatic/kafka';
import type { Assignment } from '../driver.ts';

/** The strategy's name in kafkajs, which assigns in the same way: pods with either driver can be members of one group. */
export const ROUND_ROBIN = 'RoundRobinAssigner';

const VERSION = 0;
const NOTHING = Buffer.alloc(0);

export interface SubscribedMember {
  readonly memberId: string;
  readonly metadata: Buffer | null;
}

/** Encodes what a member says of itself when it joins. */
export function encodeSubscription(topics: readonly string[]): Buffer {
  return Writer.create()
    .appendInt16(VERSION)
    .appendArray([...topics], (writer, topic) => writer.appendString(topic, false), false, false)
    .appendBytes(NOTHING, false).buffer;
}

/** @returns the topics of all members */
export function subscribedTopics(members: readonly SubscribedMember[]): string[] {
  return [...new Set(members.flatMap(topicsOf))];
}

/**
 * @param members some may have a topic that others lack, while the pods of a deployment are replaced
 * @param partitionsOf returns how many partitions the topic has
 */
export function assign(
  members: readonly SubscribedMember[],
  partitionsOf: (topic: string) => number,
): { memberId: string; assignment: Buffer }[] {
  const topics = subscribedTopics(members).toSorted();
  const sorted = members.map(({ memberId }) => memberId).toSorted();
  const assigned = new Map<string, Map<string, number[]>>(sorted.map((memberId) => [memberId, new Map()]));
  let next = 0;
  for (const topic of topics) {
    for (let partition = 0; partition < partitionsOf(topic); partition += 1, next += 1) {
      const own = assigned.get(sorted[next % sorted.length] ?? '');
      own?.set(topic, [...(own.get(topic) ?? []), partition]);
    }
  }
  return [...assigned].map(([memberId, own]) => ({ memberId, assignment: encodeAssignment(own) }));
}

/** @param topics that this member subscribes to: it consumes nothing of others */
export function decodeAssignment(bytes: Buffer, topics: readonly string[]): Assignment {
  if (bytes.length === 0) return {};
  const reader = Reader.from(bytes);
  reader.readInt16();
  const all = reader.readArray(
    () => [reader.readString(false), reader.readArray(() => reader.readInt32(), false, false)] as const,
    false,
    false,
  );
  return Object.fromEntries(all.filter(([topic]) => topics.includes(topic)));
}

function encodeAssignment(partitions: ReadonlyMap<string, readonly number[]>): Buffer {
  return Writer.create()
    .appendInt16(VERSION)
    .appendArray(
      [...partitions],
      (writer, [topic, own]) =>
        writer
          .appendString(topic, false)
          .appendArray([...own], (inner, partition) => inner.appendInt32(partition), false, false),
      false,
      false,
    )
    .appendBytes(NOTHING, false).buffer;
}

function topicsOf({ metadata }: SubscribedMember): string[] {
  if (metadata === null) return [];
  const reader = Reader.from(metadata);
  reader.readInt16();
  return reader.readArray(() => reader.readString(false), false, false);
}
