import type { Config } from '../config/settings.ts';
import { SluiceError } from '../errors.ts';
import type { Graph } from '../graph/graph.ts';
import type { Log } from '../log.ts';

/**
 * A history has one sequence for all channels of its topic, which one slot of a cluster gives. Were such a topic not spread
 * all the same, pods with the graph before would listen to it elsewhere, and not know.
 *
 * A name that no topic of the graph has is likely to be misspelt, though a later graph may have it: it is warned of.
 *
 * @throws SluiceError BAD_SETTINGS if a topic that is spread has history
 */
export function expectSpreadable(
  { REDIS_CLUSTER_SPREAD }: Pick<Config, 'REDIS_CLUSTER_SPREAD'>,
  { topics }: Pick<Graph, 'topics'>,
  log: Pick<Log, 'warn'>,
): void {
  const unknown = REDIS_CLUSTER_SPREAD.filter((name) => !topics.has(name));
  if (unknown.length > 0) {
    log.warn(`REDIS_CLUSTER_SPREAD: expected topics of the graph, got ${unknown.join(', ')}`);
  }
  const kept = REDIS_CLUSTER_SPREAD.filter((name) => topics.get(name)?.history);
  if (kept.length === 0) return;
  throw new SluiceError(
    'BAD_SETTINGS',
    `REDIS_CLUSTER_SPREAD: expected topics without history, got ${kept.join(', ')}`,
  );
}
