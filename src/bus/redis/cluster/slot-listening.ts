import { setMaxListeners } from 'node:events';
import { messageOf } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { Clock } from '../../../support/clock.ts';
import { unlessAborted } from '../../../support/unless-aborted.ts';
import type { Listener } from '../../bus.ts';
import type { ConnectionListener, ListeningConnection } from '../connection.ts';
import { isRefusal } from '../ioredis.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterNode } from './cluster-node.ts';
import type { NodeFollower } from './followed.ts';
import { isElsewhere } from './sharded.ts';

interface SlotListeningOptions {
  readonly cluster: Cluster;
  readonly slot: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * If a node sends nothing for so long while channels are being joined, the pod connects to it again: the connection may
 * have become half open while the node had none of this pod's slots, and so no heartbeat.
 */
const STALLED_MS = 2_000;

/** The pause before a command that a node has refused, or could not run, is tried again. */
const AGAIN_MS = 200;

/**
 * Listens to the channels of a slot, on the node that serves it. When another node takes over the slot, or a connection is
 * made again, all channels are joined there before the connection counts as ready.
 */
export class SlotListening implements ListeningConnection {
  readonly slot: number;
  readonly #options: SlotListeningOptions;
  readonly #listeners = new Map<string, Listener>();
  /** Channels whose join has been acknowledged, by some node. */
  readonly #joined = new Set<string>();
  #node: ClusterNode | undefined;
  /**
   * Aborts when the slot moves. The former node may never answer, as there no heartbeat detects a half-open connection any
   * more. If the slot comes back, that node has unsubscribed the slot's channels.
   */
  #moving = patientController();
  #listener: ConnectionListener | undefined;
  #isReady = false;
  /** Whether the node has unsubscribed channels since they began to be joined there. */
  #isUnsubscribed = false;
  #isPaused = false;
  /** Aborts when the present connection is lost. */
  #lost = new AbortController();
  readonly #stopping = patientController();
  /** Called once there is a connection, or the bus stops. */
  #untilNode: (() => void)[] = [];
  #refusal: string | undefined;
  readonly #follower: NodeFollower = {
    onReady: () => void this.#prepare(),
    onLost: () => this.#lose(),
    // The slot may be back on the node before a look at the cluster shows the move.
    onMoved: (isSubscribed) => {
      if ([...this.#joined].every(isSubscribed)) return;
      this.#isUnsubscribed = true;
      if (!this.#isReady) return;
      this.#lose();
      void this.#prepare();
    },
  };

  constructor(options: SlotListeningOptions) {
    this.#options = options;
    this.slot = options.slot;
  }

  start(listener: ConnectionListener): void {
    this.#listener = listener;
    this.#options.cluster.follow(this);
  }

  stop(): void {
    this.#stopping.abort();
    this.#options.cluster.unfollow(this);
    this.moveTo(undefined);
    this.#tellNode();
  }

  moveTo(node: ClusterNode | undefined): void {
    const former = this.#node;
    // Before `#node` changes: a channel that is left because the connection is lost is left on the former node.
    former?.listening.unfollow(this.#follower);
    this.#node = node;
    this.#moving.abort();
    this.#moving = patientController();
    // A node that does not serve a slot any more unsubscribes its channels by itself.
    former?.listening.connection.forget(this.#listeners.keys());
    node?.listening.follow(this.#follower);
  }

  reconnect(): void {
    this.#node?.listening.connection.reconnect();
    this.#options.cluster.look();
  }

  async join(channel: string, listener: Listener): Promise<void> {
    this.#listeners.set(channel, listener);
    for (;;) {
      const node = await this.#present();
      const { signal } = this.#moving;
      try {
        await unlessAborted(this.#joinOn(node, [channel]), signal);
        if (signal.aborted) continue;
        this.#joined.add(channel);
        return;
      } catch (thrown) {
        if (isRefusal(thrown) && !isElsewhere(messageOf(thrown))) {
          if (!this.#joined.has(channel)) {
            this.#listeners.delete(channel);
            node.listening.connection.forget([channel]);
          }
          throw thrown;
        }
        await this.#lookAgain();
      }
    }
  }

  leave(channel: string): void {
    this.#listeners.delete(channel);
    this.#joined.delete(channel);
    this.#node?.listening.connection.leave(channel);
  }

  async fence(): Promise<void> {
    for (;;) {
      const node = await this.#present();
      const { signal } = this.#moving;
      try {
        await unlessAborted(node.listening.connection.fence(), signal);
        if (!signal.aborted) return;
      } catch {
        await this.#lookAgain();
      }
    }
  }

  pause(): void {
    this.#isPaused = true;
    this.#node?.listening.connection.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#node?.listening.connection.resume();
  }

  get bytesRead(): number {
    return this.#node?.listening.connection.bytesRead ?? 0;
  }

  /** Joins the channels on the node, as the connection to it is made. */
  async #prepare(): Promise<void> {
    const node = this.#node;
    if (node === undefined) return;
    const lost = new AbortController();
    this.#lost = lost;
    this.#tellNode();
    while (!lost.signal.aborted) {
      try {
        this.#isUnsubscribed = false;
        await unlessAborted(this.#joinOn(node, [...this.#joined]), lost.signal);
        if (lost.signal.aborted) return;
        if (this.#isUnsubscribed) continue;
        this.#refusal = undefined;
        this.#isReady = true;
        this.#listener?.onReady();
        return;
      } catch (thrown) {
        const reason = messageOf(thrown);
        if (isRefusal(thrown) && !isElsewhere(reason)) this.#noteRefusal(reason);
        await this.#lookAgain();
      }
    }
  }

  async #joinOn(node: ClusterNode, channels: readonly string[]): Promise<void> {
    const settled = new AbortController();
    void this.#expectProgress(node, settled.signal);
    try {
      await node.listening.connection.join(this.#dispatching(channels));
    } finally {
      settled.abort();
    }
  }

  async #expectProgress(node: ClusterNode, settled: AbortSignal): Promise<void> {
    const { listening } = node;
    for (;;) {
      const before = listening.connection.bytesRead;
      await this.#options.clock.sleep(STALLED_MS, settled);
      if (settled.aborted || node !== this.#node) return;
      const isSilent = listening.isReady && !this.#isPaused && listening.connection.bytesRead === before;
      if (isSilent) this.reconnect();
    }
  }

  #lose(): void {
    this.#lost.abort();
    if (!this.#isReady) return;
    this.#isReady = false;
    this.#listener?.onLost();
  }

  #noteRefusal(reason: string): void {
    if (reason !== this.#refusal) {
      this.#options.log.warn({ reason }, 'Redis refuses channels that were joined before; connecting again');
    }
    this.#refusal = reason;
  }

  #dispatching(channels: readonly string[]): ReadonlyMap<string, Listener> {
    return new Map(
      channels.map((channel) => [channel, (payload) => this.#listeners.get(channel)?.(payload)]),
    );
  }

  async #lookAgain(): Promise<void> {
    const { cluster, clock } = this.#options;
    cluster.look();
    await clock.sleep(AGAIN_MS, this.#stopping.signal);
  }

  /** @throws when the bus stops */
  async #present(): Promise<ClusterNode> {
    while (!this.#stopping.signal.aborted) {
      if (this.#node !== undefined) return this.#node;
      await new Promise<void>((resolve) => this.#untilNode.push(resolve));
    }
    throw new Error('the bus is stopped');
  }

  #tellNode(): void {
    for (const resolve of this.#untilNode.splice(0)) resolve();
  }
}

/** All channels that are being joined may wait for its signal at once. */
function patientController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
