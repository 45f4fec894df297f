import type { GroupDescription } from '../../../src/ingest/kafka/driver.ts';
import type { VirtualTime, Timer } from '../time/virtual-time.ts';

/** One partition of a topic as the group knows it. */
export interface TopicPartition {
  readonly topic: string;
  /** The topic's id, which changes when the topic is made anew. */
  readonly topicId: string;
  readonly partition: number;
}

/** Commits use the topic's name, even if another topic has the name now. */
type CommitAt = Pick<TopicPartition, 'topic' | 'partition'>;

export interface Joined {
  readonly generation: number;
  /** The partitions of this member. */
  readonly partitions: readonly TopicPartition[];
  /** All partitions at the join. */
  readonly all: readonly TopicPartition[];
}

/** The coordinator's answer to a heartbeat or a commit. */
export type Answer = 'ok' | 'rebalancing' | 'unknown member';

interface Committed {
  readonly offset: number;
  /** The text that went with the commit. */
  readonly metadata: string;
  /** The epoch of the record before the offset. Undefined: there is no such record, or its epoch is not known. */
  readonly leaderEpoch: number | undefined;
}

interface Seat {
  readonly topics: readonly string[];
  readonly sessionTimeoutMs: number;
  lastSeen: number;
  /** Set while the member waits until all members have joined. */
  joining: ((joined: Joined) => void) | undefined;
  check: Timer;
}

interface JoinRequest {
  readonly member: string;
  readonly topics: readonly string[];
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly reply: (joined: Joined) => void;
}

/** How long the first member of a group waits for further members: group.initial.rebalance.delay.ms. */
const INITIAL_DELAY_MS = 100;

/** The longest time for members to join again: a rebalance also completes when the sessions of missing members end. */
const LONGEST_MS = 30_000;

/** The coordinator of one consumer group: members, generations, committed offsets. */
export class SimulatedGroup {
  readonly #time: VirtualTime;
  /** Returns the partitions of topics at present. */
  readonly #partitions: (topics: Iterable<string>) => readonly TopicPartition[];
  readonly #seats = new Map<string, Seat>();
  readonly #committed = new Map<string, Committed>();

  #generation = 0;
  #rebalance: Timer | undefined;

  constructor(time: VirtualTime, partitions: (topics: Iterable<string>) => readonly TopicPartition[]) {
    this.#time = time;
    this.#partitions = partitions;
  }

  get members(): number {
    return this.#seats.size;
  }

  get isStable(): boolean {
    return this.#rebalance === undefined && this.#seats.size > 0;
  }

  join({ member, topics, sessionTimeoutMs, rebalanceTimeoutMs, reply }: JoinRequest): void {
    const known = this.#seats.get(member);
    if (known === undefined) {
      const check = this.#time.after(sessionTimeoutMs, undefined, () => this.#checkSession(member));
      this.#seats.set(member, { topics, sessionTimeoutMs, lastSeen: this.#time.now, joining: reply, check });
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

  commit(member: string, generation: number, at: CommitAt, committed: Committed): Answer {
    const seat = this.#seats.get(member);
    if (seat === undefined || generation !== this.#generation) return 'unknown member';
    seat.lastSeen = this.#time.now;
    this.#committed.set(keyOf(at), committed);
    return 'ok';
  }

  leave(member: string): void {
    const seat = this.#seats.get(member);
    if (seat === undefined) return;
    this.#time.cancel(seat.check);
    this.#seats.delete(member);
    if (this.#seats.size > 0) this.#begin();
  }

  committed(at: CommitAt): Committed | undefined {
    return this.#committed.get(keyOf(at));
  }

  describe(partitions: readonly TopicPartition[]): GroupDescription {
    const committed = partitions.map((at) => this.committed(at)).filter((found) => found !== undefined);
    return { hasMembers: this.members > 0, texts: committed.map(({ metadata }) => metadata) };
  }

  /** Sets an offset of a group without members. */
  setCommitted(at: CommitAt, offset: number): void {
    this.#committed.set(keyOf(at), { offset, metadata: '', leaderEpoch: undefined });
  }

  /** Removes the group's offsets on a deleted topic. */
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

  /** Begins a rebalance: members learn by their next heartbeat that they must join again. */
  #begin(): void {
    this.#rebalance ??= this.#time.after(LONGEST_MS, undefined, () => this.#complete());
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
    const topics = new Set([...this.#seats.values()].flatMap((seat) => seat.topics));
    const all = this.#partitions(topics);
    const shares = [...this.#seats.values()].map((seat) => ({ seat, partitions: [] as TopicPartition[] }));
    for (const [index, partition] of all.entries()) {
      shares[index % shares.length]?.partitions.push(partition);
    }
    for (const { seat, partitions } of shares) {
      const reply = seat.joining;
      seat.joining = undefined;
      seat.lastSeen = this.#time.now;
      reply?.({ generation: this.#generation, partitions, all });
    }
  }
}

function keyOf({ topic, partition }: CommitAt): string {
  return `${topic}/${partition}`;
}
