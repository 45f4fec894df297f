import type { Bus } from '../bus/bus.ts';
import { MemoryBus } from '../bus/memory-bus.ts';
import type { HistorySettings } from '../events/history-settings.ts';
import type { Graph } from '../graph/graph.ts';
import type { Basics } from './basics.ts';
import { shareOf } from './pod-share.ts';
import { redisAccess } from './redis-access.ts';

/** How much history the bus keeps, for each topic with history in the graph. */
export function historiesOf({ topics }: Pick<Graph, 'topics'>): ReadonlyMap<string, HistorySettings> {
  const kept = [...topics.values()].flatMap(({ name, history }) =>
    history ? [[name, history] as const] : [],
  );
  return new Map(kept);
}

/** Loads the Redis client only if Redis is set: a gateway without Redis starts faster. */
export async function createBus(
  { config, processes, budget, metrics, log }: Basics,
  graph: Pick<Graph, 'topics'>,
): Promise<Bus> {
  const common = {
    lingerMs: config.CHANNEL_LINGER_MS,
    maxChannels: shareOf(config.MAX_CHANNELS_PER_POD, processes),
    histories: historiesOf(graph),
    metrics,
    log: log.child({ part: 'bus' }),
  };
  const access = redisAccess(config, common.log);
  if (access === undefined) return new MemoryBus(common);
  const { ioredisBus } = await import('../bus/redis/ioredis-bus.ts');
  return ioredisBus({
    ...common,
    access,
    prefix: config.REDIS_PREFIX,
    missedRoom: budget.missed,
    countsSubscribers: config.SKIP_UNSUBSCRIBED,
  });
}
