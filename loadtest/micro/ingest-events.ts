import type { RecordBatch } from '../../src/ingest/kafka/driver.ts';
import type { KafkaRecord } from '../../src/ingest/record.ts';

export const TOPIC = 'loadtest';

/** Each has one subscriber, where there are any. */
export const CHANNELS: readonly string[] = Array.from({ length: 4_000 }, (_, index) => `c-${index}`);

const BODY = 'x'.repeat(100);

/** What the subscriber of a channel gets of an event. */
export const resultOn = (channel: string) => ({
  data: { update: { channel, seq: '0000000001', sent_at: 1.5, body_text: BODY } },
});

let offset = 0;

/** One event for each channel, with offsets that go on: what a fetch brings is about as much. */
export function roundOfEvents(): KafkaRecord[] {
  return CHANNELS.map((channel) => {
    const event = { channel, seq: '0000000001', sentAt: 1.5, bodyText: BODY };
    offset += 1;
    return {
      topic: TOPIC,
      topicId: undefined,
      partition: 0,
      offset,
      epoch: 0,
      timestamp: 1_700_000_000_000 + offset,
      key: Buffer.from(channel),
      value: Buffer.from(JSON.stringify(event)),
      headers: {},
    };
  });
}

/**
 * A batch as a driver hands it over, all of it of one partition.
 *
 * @param committed told the next offset of each commit
 */
export function batchOf(
  records: readonly KafkaRecord[],
  committed: (nextOffset: number) => void,
): RecordBatch {
  return {
    topic: TOPIC,
    partition: 0,
    records,
    bad: undefined,
    highWatermark: offset + 1,
    heartbeat: () => Promise.resolve(),
    commit: (nextOffset) => Promise.resolve(committed(nextOffset)),
    pause: () => () => undefined,
    isAssigned: () => true,
    isRunning: () => true,
  };
}
