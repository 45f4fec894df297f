import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { GraphQLSchema } from 'graphql';
import { RedisPubSub } from 'graphql-redis-subscriptions';
import type { ServerOptions } from 'graphql-ws';
import { useServer, type Extra } from 'graphql-ws/use/ws';
import { Redis } from 'ioredis';
import { WebSocketServer } from 'ws';
import { readGraph } from './stock-graph.ts';
import { startIngest, type Event } from './kafkajs-ingest.ts';

export interface Recipe {
  readonly consume: 'eachMessage' | 'eachBatch';
  /** From what Kafka carries to what Redis carries: once for each event. */
  readonly transform: (event: Event) => object;
  /** What graphql-ws is told. */
  readonly options: (schema: GraphQLSchema) => ServerOptions<Record<string, unknown>, Extra>;
}

/** How long clients may take to say goodbye. */
const STOP_GRACE_MS = 2_000;

/**
 * Runs a server after the READMEs of graphql-ws, graphql-redis-subscriptions and kafkajs: Kafka, one consumer group,
 * Redis, WebSockets. It is told by the environment what to serve, and ends at SIGTERM.
 */
export async function serve({ consume, transform, options }: Recipe): Promise<void> {
  const redisUrl = setting('REDIS_URL');
  const groupId = setting('GROUP_ID');
  const pubSub = new RedisPubSub({ publisher: new Redis(redisUrl), subscriber: new Redis(redisUrl) });
  const graph = await readGraph(setting('GRAPH'), `${groupId}:`, (trigger) =>
    pubSub.asyncIterableIterator(trigger),
  );

  const webSockets = new WebSocketServer({
    host: '127.0.0.1',
    port: Number(setting('PORT')),
    path: '/graphql',
  });
  const server = useServer(options(graph.schema), webSockets);
  await once(webSockets, 'listening');

  const ingest = await startIngest({
    brokers: setting('KAFKA_BROKERS').split(','),
    groupId,
    topics: graph.topics,
    consume,
    take: async (topic, received) => {
      const event = transform(received);
      const triggers = graph.triggersOf(topic, event as Event);
      await Promise.all(triggers.map((trigger) => pubSub.publish(trigger, event)));
    },
    stopped: (error) => {
      console.error(error);
      process.exit(1);
    },
  });

  process.once('SIGTERM', async () => {
    await ingest.stop();
    const terminating = setTimeout(() => {
      for (const client of webSockets.clients) client.terminate();
    }, STOP_GRACE_MS);
    await server.dispose();
    clearTimeout(terminating);
    // Subscriptions to Redis end with the process: closing it while they are being given up fails.
    process.exit(0);
  });
  const { port } = webSockets.address() as AddressInfo;
  console.log(JSON.stringify({ msg: 'listening', port }));
}

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Expected the environment to hold ${name}, got nothing`);
  return value;
}
