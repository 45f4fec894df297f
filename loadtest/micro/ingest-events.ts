import type { RecordBatch } from '../../src/ingest/kafka/driver.ts';
import type { KafkaRecord } from '../../src/ingest/record.ts';

export const TOPIC = 'loadtest';

/** Each channel has one subscriber, or none has any. */
export const CHANNELS: readonly string[] = Array.from({ length: 4_000 }, (_, index) => `c-${index}`);

const BODY = 'x'.repeat(100);

/** Returns the result of an event for the subscriber of its channel. */
export const resultOn = (channel: string) => ({
  data: { update: { channel, seq: '0000000001', sent_at: 1.5, body_text: BODY } },
});

let offset = 0;

/** Makes one event for each channel, with consecutive offsets: about as many events as one fetch brings. */
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
 * A batch as a driver hands it over, all of one partition.
 *
 * @param committed called with the next offset of each commit
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
