/** `node scripts/create-topic.mjs <topic> [partitions]`: creates a topic on `KAFKA_BROKERS`, for trying things out. */
import { ensureInstalled } from './ensure.mjs';
import { readArguments } from './lib/arguments.mjs';

const USAGE = 'Expected KAFKA_BROKERS in the environment, and: create-topic.mjs <topic> [partitions]';

const [topic, partitions = '1'] = readArguments(USAGE, { words: 2 }).positionals;
ensureInstalled();
const { default: kafkajs } = await import('kafkajs');

const brokers = process.env.KAFKA_BROKERS;
if (!topic || !(Number(partitions) > 0) || !brokers) {
  console.error(USAGE);
  process.exit(1);
}

const admin = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).admin();
await admin.connect();
try {
  const created = await admin.createTopics({ topics: [{ topic, numPartitions: Number(partitions) }] });
  console.log(created ? `Created ${topic}.` : `${topic} exists already.`);
} finally {
  await admin.disconnect();
}
