import path from 'node:path';
import type { Target, Wiring } from '../target.ts';

/** The server to compare Sluice with: it serves the same events by the usual packages. */
export const stock: Target = {
  name: 'stock',
  program: [path.join(import.meta.dirname, 'stock-main.js')],
  environment: stockEnvironment,
};

/** Returns the environment variables that `serve` reads. */
export function stockEnvironment({ brokers, redisUrl, graph, subgraph, id }: Wiring): Record<string, string> {
  return {
    NODE_ENV: 'production',
    KAFKA_BROKERS: brokers,
    REDIS_URL: redisUrl,
    GRAPH: graph,
    ...(subgraph !== undefined && { SUBGRAPH_URL: subgraph }),
    GROUP_ID: id,
    PORT: '0',
  };
}
