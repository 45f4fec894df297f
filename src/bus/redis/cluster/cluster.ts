import { messageOf } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { Clock } from '../../../support/clock.ts';
import { keyOfAddress, type Address } from '../access.ts';
import { ClusterNode } from './cluster-node.ts';
import type { ConnectNode } from './node-connections.ts';
import { latest, masterOf, type ClusterView } from './view.ts';

interface ClusterOptions {
  /** Some nodes, which are asked for the others. */
  readonly nodes: readonly Address[];
  readonly connect: ConnectNode;
  readonly log: Log;
  readonly clock: Clock;
}

/** Is notified which node serves its slot. */
export interface SlotFollower {
  readonly slot: number;
  /** Undefined: no node serves the slot. */
  moveTo(node: ClusterNode | undefined): void;
}

/** How soon a change is noticed that no reply reveals, such as the replacement of a master that hangs. */
const LOOK_MS = 1_000;

/** The pause between two looks while something changes. */
const LOOK_AGAIN_MS = 100;

/** There is no node to ask. The connections of a node log why it is out of reach. */
class NotConnected extends Error {
  constructor(addresses: readonly string[]) {
    super(`expected a connection to one of ${addresses.toSorted().join(', ')}, got none`);
  }
}

/** The cluster as its nodes see it: which of them serves a slot. It notifies followers of a slot when the slot moves. */
export class Cluster {
  readonly #options: ClusterOptions;
  /** By address: the masters of the present view; until one of them is reached, also the nodes that were asked before. */
  #nodes = new Map<string, ClusterNode>();
  #view: ClusterView | undefined;
  readonly #followers = new Map<SlotFollower, ClusterNode | undefined>();
  readonly #stopping = new AbortController();
  /** Aborts when a look must not wait for its time. */
  #pause = new AbortController();

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#keepLooking();
  }

  stop(): void {
    this.#stopping.abort();
    this.#pause.abort();
    for (const node of this.#nodes.values()) node.stop();
  }

  /** Calls `moveTo` at once if the node is known, and whenever another node serves the slot. */
  follow(follower: SlotFollower): void {
    this.#followers.set(follower, undefined);
    this.#place(follower);
  }

  unfollow(follower: SlotFollower): void {
    this.#followers.delete(follower);
  }

  /** Looks soon: something shows that slots have moved, or that a node is down. */
  look(): void {
    this.#pause.abort();
  }

  async #keepLooking(): Promise<void> {
    const { clock, log, nodes } = this.#options;
    const { signal } = this.#stopping;
    let told: string | undefined;
    this.#use(nodes);
    while (!signal.aborted) {
      this.#pause = new AbortController();
      try {
        this.#apply(await this.#present());
        told = undefined;
      } catch (thrown) {
        const reason = messageOf(thrown);
        // At the start, missing connections are no news: each node that is out of reach logs its own line.
        const isNews = this.#view !== undefined || !(thrown instanceof NotConnected);
        if (reason !== told && isNews) log.warn({ reason }, 'no node tells who serves the slots');
        told = reason;
      }
      const pause = this.#view === undefined ? LOOK_AGAIN_MS : LOOK_MS;
      await clock.sleep(pause, this.#pause.signal);
      if (this.#pause.signal.aborted) await clock.sleep(LOOK_AGAIN_MS, signal);
    }
  }

  /** @throws if no node returns a view */
  async #present(): Promise<ClusterView> {
    const connected = [...this.#nodes.values()].filter(({ commands }) => commands.isReady);
    const asked = await Promise.allSettled(connected.map((node) => node.view()));
    const view = latest(asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
    if (view !== undefined) return view;
    const [refused] = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    // All masters may have been replaced, one by one. The configured nodes may know the new ones.
    if (!this.#stopping.signal.aborted)
      this.#use([...[...this.#nodes.values()].map((n) => n.address), ...this.#options.nodes]);
    throw refused instanceof Error ? refused : new NotConnected([...this.#nodes.keys()]);
  }

  #apply(view: ClusterView): void {
    if (this.#stopping.signal.aborted) return;
    this.#view = view;
    const masters = view.ranges.map(({ master }) => master);
    const before = this.#nodes;
    const isReached = masters.some((master) => before.get(keyOfAddress(master))?.commands.isReady);
    // Nodes may announce addresses out of reach. Until one is reached, those asked before are asked again.
    this.#use(isReached ? masters : [...masters, ...[...before.values()].map(({ address }) => address)]);
    for (const follower of this.#followers.keys()) this.#place(follower);
    for (const [key, node] of before) if (!this.#nodes.has(key)) node.stop();
  }

  /** Connects to these nodes. Former nodes that are not among them are left to the caller. */
  #use(addresses: readonly Address[]): void {
    const { connect, log } = this.#options;
    const before = this.#nodes;
    this.#nodes = new Map();
    for (const address of addresses) {
      const key = keyOfAddress(address);
      if (this.#nodes.has(key)) continue;
      const known = before.get(key);
      const node = known ?? new ClusterNode({ address, connect, onChange: () => this.look(), log });
      this.#nodes.set(key, node);
      if (known === undefined) node.start();
    }
  }

  #place(follower: SlotFollower): void {
    if (this.#view === undefined) return;
    const master = masterOf(this.#view, follower.slot);
    const node = master === undefined ? undefined : this.#nodes.get(keyOfAddress(master));
    if (node === this.#followers.get(follower)) return;
    this.#followers.set(follower, node);
    follower.moveTo(node);
  }
}
