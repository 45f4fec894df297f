import type { Member } from './subscriber.ts';
import type { Payload } from './result.ts';

type Deliver = (member: Member, payload: Payload) => void;

/** One event on its way to a group's members. */
export interface Progress {
  readonly sequence: number;
  /** Results of members that still wait for an earlier event; undefined: this event is not for them. */
  held: Map<Member, Payload | undefined> | undefined;
  /** Who has been served while this was the only event under way. */
  readonly direct: Iterable<Member>[];
  detached: boolean;
  done: boolean;
}

/**
 * Brings results to members in the order of the events, though executions end in any order and some members are
 * served long before others.
 *
 *     events   1      2      3     under way, oldest first
 *     ann      ✓      ✓      …     next is 3
 *     bob      …      held         next is 1: what 2 has for him waits
 *
 * As long as each event is over before the next one begins, none of this is kept: members are served at once.
 */
export class Sequencer {
  readonly #members: ReadonlySet<Member>;
  readonly #deliver: Deliver;
  /** The oldest event under way, or the next one to come. */
  #first = 1;
  #underWay: Progress[] = [];
  /** The event that a member waits for, where that is not the oldest one. */
  readonly #next = new Map<Member, number>();

  /** @param members who is in the group now: who has left gets nothing more */
  constructor(members: ReadonlySet<Member>, deliver: Deliver) {
    this.#members = members;
    this.#deliver = deliver;
  }

  /** Events under way. */
  get size(): number {
    return this.#underWay.length;
  }

  /** Takes in a member that is to get the events that begin from now on. */
  joined(member: Member): void {
    if (this.#underWay.length > 0) this.#next.set(member, this.#first + this.#underWay.length);
  }

  left(member: Member): void {
    this.#next.delete(member);
    for (const { held } of this.#underWay) held?.delete(member);
  }

  begin(): Progress {
    const sequence = this.#first + this.#underWay.length;
    const progress: Progress = {
      sequence,
      held: undefined,
      direct: [],
      detached: sequence > this.#first,
      done: false,
    };
    this.#underWay.push(progress);
    return progress;
  }

  /** Is this event still to come for the member? */
  wants(progress: Progress, member: Member): boolean {
    if (!this.#members.has(member)) return false;
    return !progress.detached || (this.#next.get(member) ?? this.#first) <= progress.sequence;
  }

  /** These members have their result, or none is for them. Every member of the event's beginning must be settled. */
  settle(progress: Progress, members: Iterable<Member>, payload: Payload | undefined): void {
    if (!progress.detached) {
      progress.direct.push(members);
      if (payload !== undefined) for (const member of members) this.#deliver(member, payload);
      return;
    }
    for (const member of members) this.#settleOne(progress, member, payload);
  }

  /** The turn is over and the event is not: from now on it is kept who has been served. */
  detach(progress: Progress): void {
    if (progress.detached) return;
    progress.detached = true;
    for (const members of progress.direct) {
      for (const member of members) this.#next.set(member, progress.sequence + 1);
    }
    progress.direct.length = 0;
  }

  /** All members of this event are settled. */
  end(progress: Progress): void {
    progress.done = true;
    while (this.#underWay[0]?.done === true) {
      this.#underWay.shift();
      this.#first += 1;
    }
    if (this.#underWay.length === 0) this.#next.clear();
  }

  #settleOne(progress: Progress, member: Member, payload: Payload | undefined): void {
    let next = this.#next.get(member) ?? this.#first;
    if (progress.sequence < next || !this.#members.has(member)) return;
    progress.held ??= new Map();
    progress.held.set(member, payload);
    for (let at = this.#underWay[next - this.#first]; at?.held?.has(member) === true;) {
      const result = at.held.get(member);
      at.held.delete(member);
      next += 1;
      this.#next.set(member, next);
      if (result !== undefined) this.#deliver(member, result);
      at = this.#underWay[next - this.#first];
    }
  }
}
