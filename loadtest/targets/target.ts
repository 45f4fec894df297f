import type { Load } from '../report/report.ts';

/** The settings of a server under test. */
export interface Wiring {
  readonly brokers: string;
  readonly redisUrl: string;
  /** Nodes of a Redis Cluster, in place of `redisUrl`. */
  readonly redisCluster?: string;
  /** The topic of the events, which exists. */
  readonly topic: string;
  /** Folder with `schema.graphql`, and `graph.ts` if the graph has code. */
  readonly graph: string;
  /** The subgraph that entities of the graph come from; undefined: it has none. */
  readonly subgraph?: string | undefined;
  /** The number of processes that share the server's port, if it can do so; absent: 1. */
  readonly workers?: number;
  /** A name unique to the run, for consumer groups and prefixes. */
  readonly id: string;
}

/**
 * A server that speaks graphql-transport-ws at `/graphql`. It is a Node.js program, so that `probe.ts` measures all
 * servers in the same way, from within.
 *
 * It listens on a port of its own choice, and writes a line of JSON to standard output with `"msg": "listening"` and
 * the `port`, when it gets every event that is sent from then on.
 */
export interface Target {
  readonly name: string;
  /** Path of the program, and its arguments. */
  readonly program: readonly [string, ...string[]];
  /** Changes the load for this target; if left out, the target gets the load that was asked for. */
  load?(load: Load): Load;
  environment(wiring: Wiring): Readonly<Record<string, string>>;
  /** The program starts the server as its last child, and needs this time to end after it; absent: it is the server. */
  readonly wrapper?: { readonly endsWithinMs: number };
}
