import path from 'node:path';
import { Contexts } from '../../../src/context/event-scope.ts';
import { Executor } from '../../../src/executor/executor.ts';
import type { Operation } from '../../../src/executor/operation.ts';
import { loadGraph, type LoadedGraph } from '../../../src/graph/loader/load-graph.ts';
import { createLog } from '../../../src/log.ts';

/** The parts that all pods of all runs share, since they keep no state of a run. */
export interface SimulatedGraph {
  readonly graph: LoadedGraph;
  readonly executor: Executor;
  readonly contexts: Contexts;
  /** The operation of each subscription field. */
  readonly operations: ReadonlyMap<FieldName, Operation>;
}

export type TopicName = 'news' | 'bids';

/** `lastNews` and `lastBids` begin with the last events of their topic. */
export type FieldName = TopicName | 'lastNews' | 'lastBids';

/** The subscription of a receiver. */
export interface Asked {
  readonly field: FieldName;
  readonly topic: TopicName;
  /** The channels; undefined: all of them. */
  readonly channels: readonly string[] | undefined;
}

/** In each query, the event has the name of its topic as its alias. */
const QUERIES: Readonly<Record<FieldName, string>> = {
  news: 'subscription ($channel: ID) { news(channel: $channel) { number } }',
  bids: 'subscription ($channel: [ID!]) { bids(channel: $channel) { number } }',
  lastNews: 'subscription ($channel: ID) { news: lastNews(channel: $channel) { number } }',
  lastBids: 'subscription ($channel: [ID!]) { bids: lastBids(channel: $channel) { number } }',
};

export async function loadSimulatedGraph(): Promise<SimulatedGraph> {
  const graph = await loadGraph(path.join(import.meta.dirname, 'graph'));
  const executor = new Executor({ schema: graph.schema, cacheSize: 10, log: createLog('silent') });
  const operations = new Map<FieldName, Operation>();
  for (const field of Object.keys(QUERIES) as FieldName[]) {
    const operation = executor.prepare(QUERIES[field]);
    if (!('document' in operation)) throw new AggregateError(operation, 'the query is at fault');
    operations.set(field, operation);
  }
  return { graph, executor, contexts: new Contexts({}, { bind: () => ({}) }, Date.now), operations };
}
