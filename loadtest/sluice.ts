import path from 'node:path';
import type { Target } from './target.ts';

const CLI = path.join(import.meta.dirname, '../src/cli.js');

/** The gateway, as pods run it. */
export const sluice: Target = {
  name: 'sluice',
  program: [CLI, 'serve'],
  environment: ({ brokers, redisUrl, graph, id }) => ({
    GRAPH: graph,
    PORT: '0',
    ADMIN_PORT: '0',
    KAFKA_BROKERS: brokers,
    KAFKA_GROUP_ID: id,
    REDIS_URL: redisUrl,
    REDIS_PREFIX: `${id}:`,
  }),
};
