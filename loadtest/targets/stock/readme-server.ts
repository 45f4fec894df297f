import type { GraphQLSchema } from 'graphql';
import { RedisPubSub } from 'graphql-redis-subscriptions';
import { Redis } from 'ioredis';
import { readGraph } from './stock-graph.ts';
import { startIngest, type Event } from './kafkajs-ingest.ts';

export interface Recipe {
  readonly consume: 'eachMessage' | 'eachBatch';
  /** Converts the event from Kafka to the one for Redis, once for each event. */
  readonly transform: (event: Event) => object;
  /** Serves the schema on a port of 127.0.0.1. */
  readonly listen: (schema: GraphQLSchema, port: number) => Promise<Listening>;
}

export interface Listening {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Runs a server after the READMEs of graphql-redis-subscriptions and kafkajs: Kafka, one consumer group, Redis.
 * Environment variables are its settings, and SIGTERM ends it.
 */
export async function serve({ consume, transform, listen }: Recipe): Promise<void> {
  const redisUrl = setting('REDIS_URL');
  const groupId = setting('GROUP_ID');
  const pubSub = new RedisPubSub({ publisher: new Redis(redisUrl), subscriber: new Redis(redisUrl) });
  const graph = await readGraph(setting('GRAPH'), `${groupId}:`, (trigger) =>
    pubSub.asyncIterableIterator(trigger),
  );

  const server = await listen(graph.schema, Number(setting('PORT')));

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
    await server.stop();
    // The process ends with its subscriptions to Redis: closing the connection while they are being given up fails.
    process.exit(0);
  });
  console.log(JSON.stringify({ msg: 'listening', port: server.port }));
}

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Expected the environment to hold ${name}, got nothing`);
  return value;
}
