import type { VirtualTime, Timer } from '../time/virtual-time.ts';

/** One partition of a topic as the group knows it. */
export interface TopicPartition {
  readonly topic: string;
  /** Of the topic: another one once the topic is made anew. */
  readonly topicId: string;
  readonly partition: number;
}

export interface Joined {
  readonly generation: number;
  readonly partitions: readonly TopicPartition[];
}

/** What a coordinator answers to a heartbeat or a commit. */
export type Answer = 'ok' | 'rebalancing' | 'unknown member';

interface Committed {
  readonly topicId: string;
  readonly offset: number;
}

interface Seat {
  readonly sessionTimeoutMs: number;
  lastSeen: number;
  /** Set while the member waits for the others to join. */
  joining: ((joined: Joined) => void) | undefined;
  check: Timer;
}

interface JoinRequest {
  readonly member: string;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly reply: (joined: Joined) => void;
}

/** How long the first member of a group waits for others: group.initial.rebalance.delay.ms. */
const INITIAL_DELAY_MS = 100;

/** The coordinator of one consumer group: members, generations, committed offsets. */
export class SimulatedGroup {
  readonly #time: VirtualTime;
  /** What there is to be assigned at present. */
  readonly #partitions: () => readonly TopicPartition[];
  readonly #seats = new Map<string, Seat>();
  readonly #committed = new Map<string, Committed>();
  /** Topics that the group has positions on, or had. */
  readonly #known = new Set<string>();
  #generation = 0;
  #rebalance: Timer | undefined;

  constructor(time: VirtualTime, partitions: () => readonly TopicPartition[]) {
    this.#time = time;
    this.#partitions = partitions;
  }

  get members(): number {
    return this.#seats.size;
  }

  get isStable(): boolean {
    return this.#rebalance === undefined && this.#seats.size > 0;
  }

  join({ member, sessionTimeoutMs, rebalanceTimeoutMs, reply }: JoinRequest): void {
    const known = this.#seats.get(member);
    if (known === undefined) {
      const check = this.#time.after(sessionTimeoutMs, undefined, () => this.#checkSession(member));
      this.#seats.set(member, { sessionTimeoutMs, lastSeen: this.#time.now, joining: reply, check });
    } else {
      known.joining = reply;
      known.lastSeen = this.#time.now;
    }
    const delay = this.#seats.size === 1 && known === undefined ? INITIAL_DELAY_MS : rebalanceTimeoutMs;
    this.#rebalance ??= this.#time.after(delay, undefined, () => this.#complete());
    if (delay === rebalanceTimeoutMs) this.#completeIfAllJoined();
  }

  heartbeat(member: string, generation: number): Answer {
    const seat = this.#seats.get(member);
    if (seat === undefined || generation !== this.#generation) return 'unknown member';
    seat.lastSeen = this.#time.now;
    return this.#rebalance === undefined ? 'ok' : 'rebalancing';
  }

  commit(member: string, generation: number, at: TopicPartition, offset: number): Answer {
    const seat = this.#seats.get(member);
    if (seat === undefined || generation !== this.#generation) return 'unknown member';
    seat.lastSeen = this.#time.now;
    this.#known.add(at.topic);
    this.#committed.set(keyOf(at), { topicId: at.topicId, offset });
    return 'ok';
  }

  leave(member: string): void {
    const seat = this.#seats.get(member);
    if (seat === undefined) return;
    this.#time.cancel(seat.check);
    this.#seats.delete(member);
    if (this.#seats.size > 0) this.#begin();
  }

  committed(at: TopicPartition): number | undefined {
    const committed = this.#committed.get(keyOf(at));
    return committed?.topicId === at.topicId ? committed.offset : undefined;
  }

  /** Whether the group has, or had, positions on the topic: then what is new of it begins at its beginning. */
  knows(topic: string): boolean {
    return this.#known.has(topic);
  }

  /** The topic is deleted, and with it the group's offsets on it. */
  forget(topic: string): void {
    for (const key of this.#committed.keys()) {
      if (key.startsWith(`${topic}/`)) this.#committed.delete(key);
    }
  }

  #checkSession(member: string): void {
    const seat = this.#seats.get(member);
    if (seat === undefined) return;
    const left = seat.lastSeen + seat.sessionTimeoutMs - this.#time.now;
    if (left > 0 || seat.joining !== undefined) {
      const again = left > 0 ? left : seat.sessionTimeoutMs;
      seat.check = this.#time.after(again, undefined, () => this.#checkSession(member));
      return;
    }
    this.leave(member);
  }

  /** Members learn by their next heartbeat that they have to join again. */
  #begin(): void {
    // As long as the slowest one may take: a session that ends meanwhile completes it.
    const longest = 30_000;
    this.#rebalance ??= this.#time.after(longest, undefined, () => this.#complete());
    this.#completeIfAllJoined();
  }

  #completeIfAllJoined(): void {
    for (const { joining } of this.#seats.values()) if (joining === undefined) return;
    this.#complete();
  }

  #complete(): void {
    if (this.#rebalance !== undefined) this.#time.cancel(this.#rebalance);
    this.#rebalance = undefined;
    for (const [member, { joining, check }] of this.#seats) {
      if (joining !== undefined) continue;
      this.#time.cancel(check);
      this.#seats.delete(member);
    }
    if (this.#seats.size === 0) return;
    this.#generation += 1;
    const shares = [...this.#seats.values()].map((seat) => ({ seat, partitions: [] as TopicPartition[] }));
    for (const [index, partition] of this.#partitions().entries()) {
      shares[index % shares.length]?.partitions.push(partition);
    }
    for (const { seat, partitions } of shares) {
      const reply = seat.joining;
      seat.joining = undefined;
      seat.lastSeen = this.#time.now;
      reply?.({ generation: this.#generation, partitions });
    }
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}
