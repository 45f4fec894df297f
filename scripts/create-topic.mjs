/** `node scripts/create-topic.mjs <topic> [partitions]`: creates a topic on `KAFKA_BROKERS`, for trying things out. */
import { ensureInstalled } from './ensure.mjs';

ensureInstalled();
const { default: kafkajs } = await import('kafkajs');

const [topic, partitions = '1'] = process.argv.slice(2);
const brokers = process.env.KAFKA_BROKERS;
if (!topic || !(Number(partitions) > 0) || !brokers) {
  console.error('Expected KAFKA_BROKERS in the environment, and: create-topic.mjs <topic> [partitions]');
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
