import path from 'node:path';
import { Contexts } from '../../../src/context/event-scope.ts';
import { Executor } from '../../../src/executor/executor.ts';
import type { Operation } from '../../../src/executor/operation.ts';
import { loadGraph, type LoadedGraph } from '../../../src/graph/loader/load-graph.ts';
import { createLog } from '../../../src/log.ts';

/** What all pods of all runs share, since it keeps nothing of a run. */
export interface SimulatedGraph {
  readonly graph: LoadedGraph;
  readonly executor: Executor;
  readonly contexts: Contexts;
  /** The subscription to each topic. */
  readonly operations: ReadonlyMap<TopicName, Operation>;
}

export type TopicName = 'news' | 'bids';

const QUERIES: Readonly<Record<TopicName, string>> = {
  news: 'subscription ($channel: ID) { news(channel: $channel) { number } }',
  bids: 'subscription ($channel: [ID!]) { bids(channel: $channel) { number } }',
};

export async function loadSimulatedGraph(): Promise<SimulatedGraph> {
  const graph = await loadGraph(path.join(import.meta.dirname, 'graph'));
  const executor = new Executor({ schema: graph.schema, cacheSize: 10, log: createLog('silent') });
  const operations = new Map<TopicName, Operation>();
  for (const topic of ['news', 'bids'] as const) {
    const operation = executor.prepare(QUERIES[topic]);
    if (!('document' in operation)) throw new AggregateError(operation, 'the query is at fault');
    operations.set(topic, operation);
  }
  return { graph, executor, contexts: new Contexts({}, { bind: () => ({}) }, Date.now), operations };
}
