import type { Config } from '../config/settings.ts';
import { SluiceError } from '../errors.ts';
import type { Graph } from '../graph/graph.ts';
import type { Log } from '../log.ts';

/**
 * Refuses to spread a topic with history. One slot of the cluster gives the sequence for all its channels. If the gateway
 * ignored the setting for such a topic, pods with the previous graph would listen elsewhere, and not notice.
 *
 * Warns of a name without a topic in the graph: it is likely misspelt, though a later graph may have the topic.
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
