import {
  TransactionRefused,
  type Command,
  type CommandConnection,
  type ConnectionListener,
  type Reply,
} from '../connection.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterNode } from './cluster-node.ts';
import { isElsewhere, sharded } from './sharded.ts';

/** Commands to the node that serves a slot. When the slot moves, the connection counts as lost and made again. */
export class SlotCommands implements CommandConnection {
  readonly slot: number;
  readonly #cluster: Cluster;
  #node: ClusterNode | undefined;
  #listener: ConnectionListener | undefined;

  constructor(cluster: Cluster, slot: number) {
    this.#cluster = cluster;
    this.slot = slot;
  }

  start(listener: ConnectionListener): void {
    this.#listener = listener;
    this.#cluster.follow(this);
  }

  stop(): void {
    this.#cluster.unfollow(this);
    this.moveTo(undefined);
  }

  moveTo(node: ClusterNode | undefined): void {
    if (this.#listener === undefined) return;
    const former = this.#node;
    this.#node = node;
    former?.commands.unfollow(this.#listener);
    node?.commands.follow(this.#listener);
  }

  reconnect(): void {
    this.#node?.commands.connection.reconnect();
    this.#cluster.look();
  }

  async send(commands: readonly Command[]): Promise<readonly Reply[]> {
    const replies = await this.#expectNode().commands.connection.send(commands.map(sharded));
    if (replies.some((reply) => 'error' in reply && isElsewhere(reply.error.message))) this.#cluster.look();
    return replies;
  }

  async transact(commands: readonly Command[]): Promise<readonly Reply[]> {
    try {
      return await this.#expectNode().commands.connection.transact(commands.map(sharded));
    } catch (thrown) {
      if (thrown instanceof TransactionRefused && isElsewhere(thrown.reason)) this.#cluster.look();
      throw thrown;
    }
  }

  #expectNode(): ClusterNode {
    if (this.#node === undefined) throw new Error('no node of the cluster is known to serve the slot');
    return this.#node;
  }
}
