import type { KafkaMessage } from 'kafkajs';
import type { KafkaBatch } from '../../src/ingest/kafka/kafka-batch.ts';

export const TOPIC = 'loadtest';

/** Each has one subscriber, where there are any. */
export const CHANNELS: readonly string[] = Array.from({ length: 4_000 }, (_, index) => `c-${index}`);

const BODY = 'x'.repeat(100);

/** What the subscriber of a channel gets of an event. */
export const resultOn = (channel: string) => ({
  data: { update: { channel, seq: '0000000001', sent_at: 1.5, body_text: BODY } },
});

let offset = 0;

/** One event for each channel, with offsets that go on: what kafkajs hands over at a time is about as much. */
export function roundOfEvents(): KafkaMessage[] {
  return CHANNELS.map((channel) => {
    const event = { channel, seq: '0000000001', sentAt: 1.5, bodyText: BODY };
    offset += 1;
    return {
      key: Buffer.from(channel),
      value: Buffer.from(JSON.stringify(event)),
      offset: String(offset),
      timestamp: String(1_700_000_000_000 + offset),
      attributes: 0,
      headers: {},
    };
  });
}

/** A batch as kafkajs hands it over, all of it of one partition. */
export function batchOf(messages: readonly KafkaMessage[]): KafkaBatch {
  return {
    batch: { topic: TOPIC, partition: 0, messages, badBatch: null, highWatermark: String(messages.length) },
    pause: () => () => undefined,
    resolveOffset: () => undefined,
    heartbeat: () => Promise.resolve(),
    commitOffsetsIfNecessary: () => Promise.resolve(),
    uncommittedOffsets: () => ({ topics: [] }),
    isRunning: () => true,
    isStale: () => false,
  };
}
