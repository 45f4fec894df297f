import type { Load } from '../report/report.ts';

/** What a server under test is told. */
export interface Wiring {
  readonly brokers: string;
  readonly redisUrl: string;
  /** Nodes of a Redis Cluster, in place of `redisUrl`. */
  readonly redisCluster?: string;
  /** The events' topic. It exists. */
  readonly topic: string;
  /** Folder with `schema.graphql`, and `graph.ts` if the graph has code. */
  readonly graph: string;
  /** Processes that share its port, where it knows how to do that; absent: 1. */
  readonly workers?: number;
  /** A name of the run's own: for consumer groups and prefixes. */
  readonly id: string;
}

/**
 * A server that speaks graphql-transport-ws at `/graphql`: a Node.js program, so that all are measured in the same way,
 * from within, by `probe.ts`.
 *
 * It listens on a port of its own choice, and writes a line of JSON to standard output with `"msg": "listening"` and
 * the `port`, once it gets every event that is sent from then on.
 */
export interface Target {
  readonly name: string;
  /** Path of the program, and its arguments. */
  readonly program: readonly [string, ...string[]];
  /** What is put on it in place of the load that was asked for; if left out, that is. */
  load?(load: Load): Load;
  environment(wiring: Wiring): Readonly<Record<string, string>>;
  /** The program starts the server as its last child, and has this much time to end after it; if left out, it is the server. */
  readonly wrapper?: { readonly endsWithinMs: number };
}
