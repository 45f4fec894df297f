import type { Reply } from '../../../src/bus/redis/connection.ts';
import type { Keyspace } from './keyspace.ts';

/** What commands are run on: a server. */
export interface CommandTarget {
  readonly replicationId: string;
  role: 'master' | 'replica';
  readonly channels: ReadonlyMap<string, ReadonlySet<unknown>>;
  /** Bytes; 0: no limit. A simulated server with a limit has always reached it. */
  maxMemory: number;
  /** The command that the access list refuses. */
  denied: string | undefined;
  /** How often each command was refused. */
  readonly refusals: ReadonlyMap<string, number>;
  readonly data: Keyspace;
  readonly cluster: { reply(subcommand: string): unknown } | undefined;
  /** ms since 1970 */
  readonly now: number;
  /** Runs a script. */
  evaluate(words: readonly string[]): Reply;
  publish(channel: string, payload: string): number;
  promote(): void;
  /** Closes all connections of a kind but the one that asks for it. */
  killOthers(kind: 'normal' | 'pubsub'): void;
}

export interface CommandSpec {
  /** As COMMAND INFO has it: the number of words, negative for at least so many. */
  readonly arity: number;
  /** Refused by replicas, and replicated. */
  readonly writes?: boolean;
  /** Replicated, though replicas accept it from clients. */
  readonly replicates?: boolean;
  /** Refused while there is no memory. */
  readonly grows?: boolean;
  /** What a replica gets in its place; to be called before it is run. */
  readonly replicatedAs?: (redis: CommandTarget, args: readonly string[]) => readonly [string, ...string[]];
  readonly run?: (redis: CommandTarget, args: readonly string[]) => Reply;
}
