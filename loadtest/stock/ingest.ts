import { Kafka, logLevel } from 'kafkajs';

export type Event = Readonly<Record<string, unknown>>;

export interface IngestOptions {
  readonly brokers: readonly string[];
  readonly groupId: string;
  readonly topics: readonly string[];
  /** Called for one event of a partition after the other. */
  readonly take: (topic: string, event: Event) => Promise<void>;
  /** It won't consume any more. */
  readonly stopped: (error: Error) => void;
}

export interface Ingest {
  stop(): Promise<void>;
}

/**
 * Consumes by `eachMessage`, as kafkajs's README shows it, in one group.
 *
 * @returns once every event that is sent from now on will be consumed: the group has been joined, and the positions at
 *   the ends of the partitions are known. (kafkajs as it is patched here looks them up before it tells of the join.)
 */
export async function startIngest({
  brokers,
  groupId,
  topics,
  take,
  stopped,
}: IngestOptions): Promise<Ingest> {
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
  await consumer.run({
    eachMessage: async ({ topic, message }) => {
      const event = decode(message.value);
      if (event !== undefined) await take(topic, event);
    },
  });
  await joined;
  return { stop: () => consumer.disconnect() };
}

/** @returns undefined for what no later attempt would decode either */
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
