import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import kafkajs from 'kafkajs';
import type { Load } from '../report/report.ts';
import type { Wiring } from '../targets/target.ts';

/** The sources, which the gateway compiles by itself. */
const GRAPHS = path.join(import.meta.dirname, '../../../loadtest/graphs');

/** The topic in the schemas of the load test's graphs; each run has one of its own in its place. */
const TOPIC_PLACE = '"loadtest"';

/** With keys: as many as a small cluster would have. Without: one, so that all events have one order. */
const KEYED_PARTITIONS = 6;

/** Makes a topic and a graph that subscribes to it. @returns what a server is told, and how to undo it */
export async function prepare(load: Load): Promise<{ wiring: Wiring; undo: () => Promise<void> }> {
  const brokers = given('KAFKA_BROKERS');
  const redisUrl = given('REDIS_URL');
  const id = `loadtest-${randomUUID().slice(0, 8)}`;
  const admin = new kafkajs.Kafka({
    brokers: brokers.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  const numPartitions = load.channels === 0 ? 1 : KEYED_PARTITIONS;
  await admin.createTopics({ topics: [{ topic: id, numPartitions }], waitForLeaders: true });
  // A busy broker tells of leaders before they lead: this asks them, again and again.
  await admin.fetchTopicOffsets(id);
  const graph = await mkdtemp(path.join(tmpdir(), 'sluice-loadtest-'));
  await cp(load.graph.includes('/') ? load.graph : path.join(GRAPHS, load.graph), graph, { recursive: true });
  const schemaFile = path.join(graph, 'schema.graphql');
  const schema = await readFile(schemaFile, 'utf8');
  if (!schema.includes(TOPIC_PLACE)) {
    throw new Error(`expected a schema that binds a field to the topic ${TOPIC_PLACE}, got ${load.graph}`);
  }
  await writeFile(schemaFile, schema.replaceAll(TOPIC_PLACE, JSON.stringify(id)));
  return {
    wiring: { brokers, redisUrl, topic: id, graph, id, workers: load.workers ?? 1 },
    undo: async () => {
      await rm(graph, { recursive: true, force: true });
      await admin.deleteTopics({ topics: [id] }).catch(() => undefined);
      await admin.disconnect();
    },
  };
}

/** An address that `yarn loadtest` sets. */
export function given(name: 'KAFKA_BROKERS' | 'REDIS_URL'): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name}: expected an address, got nothing; yarn loadtest sets it`);
  return value;
}
