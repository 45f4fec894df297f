import type { Assigned } from './assigned.ts';
import type { SimulatedKafka, StoredRecord } from './cluster.ts';

/** A partition whose log lacks records that were consumed. */
export interface Lost {
  readonly at: Assigned;
  readonly to: 'divergence' | 'end';
}

/**
 * The broker's check as it answers a fetch.
 *
 * @param client a client that sends no leader epochs does not notice that the log was filled again
 */
export function lostOf(
  kafka: SimulatedKafka,
  at: Assigned,
  log: readonly StoredRecord[],
  { namesEpochs }: { readonly namesEpochs: boolean },
): Lost | undefined {
  if (heldUpTo(log, at) === at.position) return undefined;
  if (namesEpochs && at.leaderEpoch !== undefined) return { at, to: 'divergence' };
  if (at.position > log.length) return { at, to: 'end' };
  passOver(kafka, at, log, at.position);
  at.leaderEpoch = epochBefore(log, at.position);
  return undefined;
}

/** The broker's answer on where the partition goes on; undefined if its topic was made anew meanwhile. */
export function goesOnAt(kafka: SimulatedKafka, { at, to }: Lost) {
  const topic = kafka.has(at.topic) ? kafka.topic(at.topic) : undefined;
  if (topic?.id !== at.topicId) return undefined;
  const log = topic.partitions[at.partition] ?? [];
  const offset = to === 'end' ? Math.min(at.position, log.length) : heldUpTo(log, at);
  if (to === 'end') passOver(kafka, at, log, offset);
  return { offset, leaderEpoch: epochBefore(log, offset) };
}

/** Returns the epoch of the record before this offset. */
export function epochBefore(log: readonly StoredRecord[], offset: number): number | undefined {
  return log[offset - 1]?.leaderEpoch;
}

function passOver(kafka: SimulatedKafka, at: Assigned, log: readonly StoredRecord[], next: number): void {
  const { topicId, partition } = at;
  kafka.passedOver.push({ topicId, partition, records: log.slice(heldUpTo(log, at), next) });
}

/** Returns the offset up to which a log holds the consumed records. */
function heldUpTo(log: readonly StoredRecord[], { position, leaderEpoch = Infinity }: Assigned): number {
  const other = log.findIndex((record) => record.leaderEpoch > leaderEpoch);
  return Math.min(position, other < 0 ? log.length : other);
}
