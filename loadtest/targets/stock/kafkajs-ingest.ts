import { Kafka, logLevel, type ConsumerRunConfig, type KafkaMessage } from 'kafkajs';

export type Event = Readonly<Record<string, unknown>>;

export interface IngestOptions {
  readonly brokers: readonly string[];
  readonly groupId: string;
  readonly topics: readonly string[];
  /** One event of a partition after the other, as READMEs show it; or all events of a batch, without waiting. */
  readonly consume: 'eachMessage' | 'eachBatch';
  readonly take: (topic: string, event: Event) => Promise<void>;
  /** Called when the consumer has crashed for good. */
  readonly stopped: (error: Error) => void;
}

export interface Ingest {
  stop(): Promise<void>;
}

/**
 * Consumes as kafkajs's README shows it, in one group.
 *
 * @returns when every event that is sent from now on will be consumed: the member has joined the group, and knows the
 *   positions at the ends of the partitions. (kafkajs, as patched here, looks them up before it reports the join.)
 */
export async function startIngest(options: IngestOptions): Promise<Ingest> {
  const { brokers, groupId, topics, consume, take, stopped } = options;
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.ERROR });
  const consumer = kafka.consumer({ groupId });
  const joined = new Promise<void>((resolve, reject) => {
    consumer.on(consumer.events.GROUP_JOIN, () => resolve());
    consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
      if (restart) return;
      reject(error);
      stopped(error);
    });
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [...topics], fromBeginning: false });
  const takeMessage = async (topic: string, { value }: KafkaMessage): Promise<void> => {
    const event = decode(value);
    if (event !== undefined) await take(topic, event);
  };
  const handlers: Record<IngestOptions['consume'], ConsumerRunConfig> = {
    eachMessage: { eachMessage: ({ topic, message }) => takeMessage(topic, message) },
    eachBatch: {
      eachBatch: async ({ batch: { topic, messages } }) => {
        await Promise.all(messages.map((message) => takeMessage(topic, message)));
      },
    },
  };
  await consumer.run(handlers[consume]);
  await joined;
  return { stop: () => consumer.disconnect() };
}

/** @returns undefined for a value that can't be decoded, now or later */
function decode(value: Buffer | null): Event | undefined {
  try {
    const event: unknown = JSON.parse(String(value));
    if (typeof event === 'object' && event !== null && !Array.isArray(event)) return event as Event;
    console.error(`Expected an event that is a JSON object, got ${String(value)}`);
  } catch (error) {
    console.error(error);
  }
  return undefined;
}
