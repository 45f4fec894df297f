/**
 * Stands in for the auction house's producers: `node producer.js` makes the topics on `KAFKA_BROKERS` and sends
 * simulated events to them until it is stopped.
 */
import { once } from 'node:events';
import { setInterval } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { simulate } from './simulator.ts';

const TOPICS = ['property-updates', 'bids', 'auction-status'];
const PARTITIONS = 6;
const INTERVAL_MS = 300;

const brokers = process.env['KAFKA_BROKERS'];
if (!brokers) throw new Error('Expected KAFKA_BROKERS, host:port separated by commas, got nothing.');
// Brokers that are started at the same time need a while until they accept connections.
const kafka = new Kafka({
  brokers: brokers.split(','),
  logLevel: logLevel.ERROR,
  retry: { retries: 20, maxRetryTime: 2_000 },
});

await createTopics();
const producer = kafka.producer();
await producer.connect();
process.stdout.write(`Sending events to ${brokers}.\n`);
try {
  await send(stopSignal());
} finally {
  await producer.disconnect();
}

async function createTopics(): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: TOPICS.map((topic) => ({ topic, numPartitions: PARTITIONS })) });
  await admin.disconnect();
}

async function send(signal: AbortSignal): Promise<void> {
  const events = simulate(Math.random, Date.now);
  try {
    for await (const _ of setInterval(INTERVAL_MS, undefined, { signal })) {
      const { topic, key, value } = events.next().value;
      await producer.send({ topic, messages: [{ key, value: JSON.stringify(value) }] });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function stopSignal(): AbortSignal {
  const controller = new AbortController();
  void Promise.race(['SIGTERM', 'SIGINT'].map((name) => once(process, name))).then(() => controller.abort());
  return controller.signal;
}
