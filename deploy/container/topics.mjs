/**
 * `node topics.mjs`: makes the topics of the graph in `GRAPH` that `KAFKA_BROKERS` do not have yet, for trying a graph
 * out. The gateway itself makes none.
 */
import kafkajs from 'kafkajs';

const PARTITIONS = 6;

// Where the image has them; this file is elsewhere in the repository.
const built = (file) => import(new URL(`dist/src/${file}`, import.meta.url));
const [{ loadConfig }, { loadGraph }] = [
  await built('config/config.js'),
  await built('graph/loader/load-graph.js'),
];

const { GRAPH, KAFKA_BROKERS: brokers } = loadConfig(process.env);
const topics = [...(await loadGraph(GRAPH)).topics.keys()];
const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.ERROR }).admin();
await admin.connect();
try {
  const existing = new Set(await admin.listTopics());
  const missing = topics.filter((topic) => !existing.has(topic));
  await admin.createTopics({ topics: missing.map((topic) => ({ topic, numPartitions: PARTITIONS })) });
} finally {
  await admin.disconnect();
}
// Code of the graph may have started what goes on, such as a timer.
process.stdout.write(`Kafka has the topics ${topics.join(', ')}.\n`, () => process.exit());
