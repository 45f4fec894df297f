import { SLOTS, slotOf } from '../../../src/bus/redis/cluster/slot.ts';
import type { Random } from '../../helpers/random.ts';
import type { VirtualTime } from '../time/virtual-time.ts';
import type { RedisPair } from '../world/redis-pair.ts';
import type { Repairs } from '../world/repairs.ts';
import type { SimulatedRedis } from './server.ts';

/** The view that one node has of the cluster. */
interface View {
  readonly epoch: number;
  readonly ranges: readonly { readonly first: number; readonly last: number; readonly master: string }[];
}

interface Migration {
  readonly slot: number;
  readonly from: RedisPair;
  readonly to: RedisPair;
}

/** Nodes tell each other of a change within this time. */
const GOSSIP_MS = [5, 600] as const;

/** The other nodes take a master that does not answer for this time as down. */
const NODE_TIMEOUT_MS = 1_500;

const PORT = 6379;
const REFUSES_ALL = 'CLUSTERDOWN The cluster is down';
const ASKING = 'TRYAGAIN Multiple keys request during rehashing of slot';

/** A cluster of pairs, each of which serves a part of the slots. */
export class SimulatedCluster {
  readonly pairs: readonly RedisPair[];
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #repairs: Repairs;
  /** The pairs of slots that an operator has moved. */
  readonly #moved = new Map<number, RedisPair>();
  readonly #migrations = new Map<number, Migration>();
  readonly #views = new Map<SimulatedRedis, View>();
  /** Pairs whose master the other nodes find down. */
  readonly #down = new Set<RedisPair>();
  #epoch = 1;

  constructor(pairs: readonly RedisPair[], time: VirtualTime, random: Random, repairs: Repairs) {
    this.pairs = pairs;
    this.#time = time;
    this.#random = random;
    this.#repairs = repairs;
    for (const server of this.#servers) {
      this.#views.set(server, this.#present());
      server.cluster = {
        redirect: (keys, channels) => this.#redirect(server, keys, channels),
        reply: (subcommand) => this.#reply(server, subcommand),
      };
    }
  }

  get nodes() {
    return this.pairs.map(({ master }) => ({ host: master.name, port: PORT }));
  }

  server(name: string): SimulatedRedis | undefined {
    return this.#servers.find((server) => server.name === name);
  }

  /** Returns the pair that serves the word's slot. */
  pairOf(word: string): RedisPair {
    return this.#ownerOf(slotOf(word));
  }

  /** Called when a pair's master has ended or has been replaced. */
  changed(pair: RedisPair): void {
    this.#time.after(NODE_TIMEOUT_MS, undefined, () => this.#judge(pair));
    this.#tell([pair.master]);
  }

  /** Moves the word's slot to the next pair, key by key. */
  move(word: string, forMs: number): void {
    const slot = slotOf(word);
    if (this.#migrations.has(slot)) return;
    const from = this.#ownerOf(slot);
    const to = this.pairs[(this.pairs.indexOf(from) + 1) % this.pairs.length] ?? from;
    const migration = { slot, from, to };
    this.#migrations.set(slot, migration);
    const count = keysIn(from.master, slot).length + 1;
    for (let step = 1; step < count; step += 1) {
      this.#time.after((forMs * step) / count, undefined, () => this.#moveKey(migration));
    }
    this.#repairs.after(forMs, () => this.#finish(migration));
  }

  get #servers(): readonly SimulatedRedis[] {
    return this.pairs.flatMap(({ servers }) => servers);
  }

  #ownerOf(slot: number): RedisPair {
    const index = Math.floor((slot * this.pairs.length) / SLOTS);
    const owner = this.#moved.get(slot) ?? this.pairs[index];
    if (owner === undefined) throw new Error(`expected a slot below ${SLOTS}, got ${slot}`);
    return owner;
  }

  #moveKey(migration: Migration): void {
    const { slot, from, to } = migration;
    // A new master may still have moved keys; they are not moved again when the slot is another node's.
    if (this.#migrations.get(slot) !== migration || !from.master.alive || !to.master.alive) return;
    const [key] = keysIn(from.master, slot);
    if (key === undefined) return;
    to.master.restore(key, from.master.data);
    from.master.evict(key);
  }

  #finish(migration: Migration): void {
    const { slot, from, to } = migration;
    if (!from.master.alive || !to.master.alive) {
      this.#repairs.after(NODE_TIMEOUT_MS, () => this.#finish(migration));
      return;
    }
    for (const _ of keysIn(from.master, slot)) this.#moveKey(migration);
    this.#migrations.delete(slot);
    this.#moved.set(slot, to);
    this.#tell([to.master, from.master]);
  }

  /** Begins a new epoch, which these nodes know at once. */
  #tell(first: readonly SimulatedRedis[]): void {
    this.#epoch += 1;
    const view = this.#present();
    const [least, most] = GOSSIP_MS;
    for (const server of this.#servers) {
      if (first.includes(server)) this.#learn(server, view);
      else {
        const after = least + this.#random.next() * (most - least);
        this.#time.after(after, undefined, () => this.#learn(server, view));
      }
    }
  }

  #learn(server: SimulatedRedis, view: View): void {
    if ((this.#views.get(server)?.epoch ?? 0) > view.epoch) return;
    this.#views.set(server, view);
    server.whenRunning(() => {
      for (const channel of server.channels.keys()) {
        if (masterOf(this.#views.get(server), slotOfName(channel)) !== server.name) server.unserve(channel);
      }
    });
  }

  #judge(pair: RedisPair): void {
    if (pair.master.alive) {
      this.#down.delete(pair);
      return;
    }
    this.#down.add(pair);
    this.#time.after(NODE_TIMEOUT_MS, undefined, () => this.#judge(pair));
  }

  #present(): View {
    const ranges = this.pairs.flatMap((pair, index) => {
      const first = Math.ceil((index * SLOTS) / this.pairs.length);
      const last = Math.ceil(((index + 1) * SLOTS) / this.pairs.length) - 1;
      return [{ first, last, master: pair.master.name }];
    });
    const moved = [...this.#moved].map(([slot, { master }]) => ({
      first: slot,
      last: slot,
      master: master.name,
    }));
    return { epoch: this.#epoch, ranges: [...moved, ...ranges] };
  }

  #reply(server: SimulatedRedis, subcommand: string): unknown {
    const view = this.#views.get(server);
    if (subcommand === 'info') {
      const state = this.#down.size > 0 ? 'fail' : 'ok';
      return `cluster_state:${state}\r\ncluster_current_epoch:${view?.epoch ?? 0}\r\n`;
    }
    return view?.ranges.map(({ first, last, master }) => [first, last, [master, PORT]]);
  }

  /** Says why a node does not run a command on keys and channels of one slot; undefined: it does. */
  #redirect(
    server: SimulatedRedis,
    keys: readonly string[],
    channels: readonly string[],
  ): string | undefined {
    const [name] = [...keys, ...channels];
    if (name === undefined) return undefined;
    if (this.#down.size > 0) return REFUSES_ALL;
    const slot = slotOfName(name);
    const master = masterOf(this.#views.get(server), slot);
    if (master !== server.name) return `MOVED ${slot} ${master}:${PORT}`;
    const migration = this.#migrations.get(slot);
    if (migration?.from.master !== server || keys.length === 0) return undefined;
    const missing = keys.filter((key) => !server.data.has(key)).length;
    if (missing === 0) return undefined;
    return missing < keys.length ? ASKING : `ASK ${slot} ${migration.to.master.name}:${PORT}`;
  }
}

function masterOf(view: View | undefined, slot: number): string | undefined {
  return view?.ranges.find(({ first, last }) => first <= slot && slot <= last)?.master;
}

const slotOfName = (name: string): number => slotOf(/\{([^}]+)\}/.exec(name)?.[1] ?? name);

function keysIn({ data }: SimulatedRedis, slot: number): readonly string[] {
  return data.keys.filter((key) => slotOfName(key) === slot);
}
