import path from 'node:path';
import { loadConfig } from '../../src/config/config.ts';
import { choice } from '../command.ts';
import type { Target } from './target.ts';

/** The gateway as users run it, by its command line, but without draining and without limits on connections. */
export const sluice: Target = {
  name: 'sluice',
  program: [path.join(import.meta.dirname, '../../src/cli.js'), 'serve'],
  environment: ({ brokers, redisUrl, redisCluster, topic, graph, subgraph, id, workers = 1 }) => ({
    GRAPH: graph,
    ...(subgraph !== undefined && { SUBGRAPH_URL: subgraph }),
    PORT: '0',
    ADMIN_PORT: '0',
    DRAIN_DELAY_SECONDS: '0',
    DRAIN_SECONDS: '0',
    MAX_CONNECTIONS: '1000000',
    CONNECTIONS_PER_SECOND: '0',
    KAFKA_BROKERS: brokers,
    KAFKA_GROUP_ID: id,
    ...(redisCluster === undefined
      ? { REDIS_URL: redisUrl }
      : { REDIS_CLUSTER: redisCluster, REDIS_CLUSTER_SPREAD: topic }),
    REDIS_PREFIX: `${id}:`,
    WORKERS: String(workers),
  }),
};

const DRIVERS = ['kafkajs', 'platformatic'];

export const driverOption = {
  type: 'string',
  default: loadConfig({}).KAFKA_DRIVER,
  help: `Sluice's Kafka client: ${DRIVERS.join(' or ')}`,
} as const;

/** @throws UsageError unless the text names a Kafka client */
export function sluiceWith(driver: string): Target {
  const KAFKA_DRIVER = choice('driver', driver, DRIVERS);
  return { ...sluice, environment: (wiring) => ({ ...sluice.environment(wiring), KAFKA_DRIVER }) };
}
