import type { DeadLetterMessage } from '../dead-letter.ts';

interface Producer {
  /** Resolves when all are acknowledged. */
  send(batch: readonly DeadLetterMessage[]): Promise<void>;
  /** Whether the topic has refused records as too large, one of them or all together. */
  isTooLarge(thrown: unknown): boolean;
}

/** The most to send together; brokers accept about 1 MB by default. */
const BATCH_BYTES = 256 * 1_024;

/** Sends dead letters in their order, in batches that are small enough for a topic. */
export async function sendDeadLetters(
  messages: readonly DeadLetterMessage[],
  producer: Producer,
): Promise<void> {
  let batch: DeadLetterMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = message.value?.length ?? 0;
    if (batch.length > 0 && bytes + size > BATCH_BYTES) {
      await sendBatch(batch, producer);
      batch = [];
      bytes = 0;
    }
    batch.push(message);
    bytes += size;
  }
  await sendBatch(batch, producer);
}

async function sendBatch(batch: readonly DeadLetterMessage[], producer: Producer): Promise<void> {
  try {
    await producer.send(batch);
  } catch (thrown) {
    if (!producer.isTooLarge(thrown)) throw thrown;
    // With its headers the record is too large for the topic, and would be on each retry. Topic, partition and offset are
    // kept; the record itself is still in its own topic.
    if (batch.length > 1) for (const message of batch) await sendBatch([message], producer);
    else await producer.send(batch.map(withoutValue));
  }
}

function withoutValue({ key, value, headers }: DeadLetterMessage): DeadLetterMessage {
  return { key, value: null, headers: { ...headers, 'sluice-bytes-left-out': String(value?.length ?? 0) } };
}
