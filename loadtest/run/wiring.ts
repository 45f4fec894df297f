import { randomUUID } from 'node:crypto';
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import kafkajs from 'kafkajs';
import type { Scope } from '../../test/helpers/scope.ts';
import { temporaryFolder } from '../../test/helpers/temporary-folder.ts';
import { createTopics } from '../../test/helpers/topic.ts';
import { RunScope } from './run-scope.ts';
import type { Load } from '../report/report.ts';
import type { Wiring } from '../targets/target.ts';
import { serveTexts } from '../targets/texts-subgraph.ts';
import { bodyText } from './workload.ts';

/** The graphs' sources, which the gateway compiles by itself. */
const GRAPHS = path.join(import.meta.dirname, '../../../loadtest/graphs');

/** The topic in the schemas of the load test's graphs; the name of the run's own topic replaces it. */
const TOPIC_PLACE = '"loadtest"';

/** With keys, a small cluster's number of partitions. Without keys there is one, so that all events have one order. */
const KEYED_PARTITIONS = 6;

/** Makes a topic and a graph that subscribes to it. @returns the settings of a server, and how to undo it */
export async function prepare(load: Load): Promise<{ wiring: Wiring; undo: () => Promise<void> }> {
  const scope = new RunScope();
  const undo = (): Promise<void> => scope.end();
  try {
    return { wiring: await prepareIn(scope, load), undo };
  } catch (error) {
    // An open connection would keep the process from ending.
    await undo();
    throw error;
  }
}

async function prepareIn(scope: Scope, load: Load): Promise<Wiring> {
  const brokers = given('KAFKA_BROKERS');
  const redisUrl = given('REDIS_URL');
  const id = `loadtest-${randomUUID().slice(0, 8)}`;
  const admin = new kafkajs.Kafka({
    brokers: brokers.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  scope.after(() => admin.disconnect());
  scope.after(() => admin.deleteTopics({ topics: [id] }).catch(() => undefined));
  const numPartitions = load.channels === 0 ? 1 : KEYED_PARTITIONS;
  await createTopics(admin, [{ topic: id, numPartitions }]);
  const graph = await temporaryFolder(scope);
  await cp(load.graph.includes('/') ? load.graph : path.join(GRAPHS, load.graph), graph, { recursive: true });
  const schemaFile = path.join(graph, 'schema.graphql');
  const schema = await readFile(schemaFile, 'utf8');
  if (!schema.includes(TOPIC_PLACE)) {
    throw new Error(`expected a schema that binds a field to the topic ${TOPIC_PLACE}, got ${load.graph}`);
  }
  await writeFile(schemaFile, schema.replaceAll(TOPIC_PLACE, JSON.stringify(id)));
  const subgraph = load.graph === 'joined' ? await serveTexts(scope, bodyText(load)) : undefined;
  return { brokers, redisUrl, topic: id, graph, subgraph, id, workers: load.workers ?? 1 };
}

/** Returns an address that `yarn loadtest` has set. */
export function given(name: 'KAFKA_BROKERS' | 'REDIS_URL'): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name}: expected an address, got nothing; yarn loadtest sets it`);
  return value;
}
