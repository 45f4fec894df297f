import type { EventScope } from '../../context/event-scope.ts';
import type { Message } from '../../events/message.ts';
import { deepFreeze } from '../../support/deep-freeze.ts';
import type { Group } from '../group.ts';
import type { Subscriber } from '../subscriber.ts';
import { UNITS, type WorkBudget } from '../work-budget.ts';
import type { RecordedMessage, Recording } from './recording.ts';
import { Deleted } from './deleted.ts';
import type { Resumer } from './resumer.ts';

/** The part of a channel that is replayed: the messages after a sequence. */
export interface Track {
  readonly recording: Recording;
  start: number;
}

export interface ReplayServices {
  readonly budget: WorkBudget;
  readonly scopeOf: (message: Message) => EventScope;
  /** These have to wait until their clients have taken what they were sent. */
  readonly aside: (resumers: readonly Resumer[]) => void;
  /** These can go on, in another replay. */
  readonly again: (resumers: readonly Resumer[]) => void;
  /** The events that these lack can't be replayed: they go on in the group. */
  readonly lost: (subscribers: readonly Subscriber[]) => void;
}

/** Events of one replay under way at a time. */
const MAX_PENDING = 8;

/** After so many steps without progress, the subscribers that are not waiting go on without the others. */
const MAX_WAITS = 10;

/**
 * Brings subscribers of one group the events that they have missed: a separate group takes the recorded messages, in the
 * order of their sequences, and each subscriber joins it at its own place. At the end of the recordings all move into the
 * group, in one turn: they get the next message of a channel together with the others.
 *
 *     recorded   4    5    6    7
 *     ann        ├────┼────┼────┤ ──► group          had 3
 *     bob                  ├────┤ ──► group          had 5
 */
export class Replay {
  readonly #group: Group;
  readonly #tracks: readonly Track[];
  readonly #services: ReplayServices;
  /** Subscribers that are not in the replaying group yet: the one that has got least comes last. */
  readonly #later: Resumer[];
  readonly #joined = new Set<Resumer>();
  /** Deleted events, which subscribers that begin with the last events don't get: the same for all of one replay. */
  readonly #deleted = new Deleted();
  readonly #replaying: Group;
  /** The sequence of the last message. */
  #sequence: number;
  /** Set when all have moved into the group; called once the last results have been delivered. */
  #finish: (() => void) | undefined;
  #isOver = false;
  #isStuck = false;
  #waits = 0;

  constructor(
    group: Group,
    tracks: readonly Track[],
    resumers: readonly Resumer[],
    services: ReplayServices,
  ) {
    this.#group = group;
    this.#tracks = tracks;
    this.#services = services;
    this.#later = resumers.toSorted((one, other) => other.sequence - one.sequence);
    for (const { deleted } of resumers) if (deleted !== undefined) this.#deleted.merge(deleted);
    this.#replaying = group.beginReplay();
    this.#sequence = this.#later.at(-1)?.sequence ?? 0;
  }

  /** All its subscribers have got what they had missed, or have left it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** It waits for the executions of a few subscribers: others of the group need not wait for it. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** @returns false if there is nothing to do at present */
  step(): boolean {
    const hasStepped = this.#step();
    this.#waits = hasStepped ? 0 : this.#waits + 1;
    if (this.#waits === MAX_WAITS && !this.#isStuck) this.#leaveBehind();
    return hasStepped;
  }

  #step(): boolean {
    if (this.#finish !== undefined) {
      if (this.#replaying.counts.waiting > 0) return false;
      this.#finish();
      this.#isOver = true;
      return true;
    }
    if (this.#tracks.some(({ recording }) => recording.isMissing)) {
      this.giveUp();
      return true;
    }
    if (this.#tracks.some(({ recording, start }) => !recording.reaches(Math.max(this.#sequence, start)))) {
      this.#replaying.flush();
      if (this.#replaying.counts.waiting > 0) return false;
      this.#beginAgain();
      return true;
    }
    const slow = [...this.#joined].filter(({ subscriber }) => subscriber.isBehind);
    // They get what a throttle holds before they are set aside.
    if (slow.length > 0) this.#replaying.flush();
    const { waiting } = this.#replaying.counts;
    if (waiting >= MAX_PENDING || (waiting > 0 && slow.length > 0)) return false;
    if (slow.length > 0) this.#setAside(slow);
    const next = this.#next();
    if (next === undefined) this.#handOver();
    else this.#dispatch(next);
    return true;
  }

  /** Several channels may carry the same event. */
  #next(): RecordedMessage | undefined {
    let first: RecordedMessage | undefined;
    for (const track of this.#tracks) {
      let next = track.recording.behind(Math.max(this.#sequence, track.start));
      while (next !== undefined && this.#deleted.has(next)) {
        track.start = next.sequence;
        next = track.recording.behind(track.start);
      }
      if (next !== undefined && (first === undefined || next.sequence < first.sequence)) first = next;
    }
    return first;
  }

  #dispatch({ sequence, message, bytes }: RecordedMessage): void {
    const { budget, scopeOf } = this.#services;
    budget.spend(UNITS.message + bytes * UNITS.byte);
    for (
      let next = this.#later.at(-1);
      next !== undefined && next.sequence < sequence;
      next = this.#later.at(-1)
    ) {
      this.#later.pop();
      if (!this.#group.isResuming(next.subscriber)) continue;
      this.#replaying.add(next.subscriber);
      this.#joined.add(next);
    }
    this.#sequence = sequence;
    // A message that was decoded under a graph without resolvers may not be frozen yet.
    if (!Object.isFrozen(message.event)) deepFreeze(message.event);
    this.#replaying.dispatch(message, scopeOf(message), true, bytes);
  }

  #handOver(): void {
    this.#finish = this.#group.takeOver(this.#subscribers(), this.#replaying);
  }

  /** @param slow all that has been dispatched has been delivered to them */
  #setAside(slow: readonly Resumer[]): void {
    for (const resumer of slow) this.#remove(resumer);
    this.#services.aside(slow);
  }

  /** Some executions take long: subscribers that do not wait for them go on without the others. */
  #leaveBehind(): void {
    this.#isStuck = true;
    if (this.#finish !== undefined) return;
    // What a throttle holds counts as under way, too.
    this.#replaying.flush();
    const ready = [...this.#joined].filter(({ subscriber }) => this.#replaying.isUpToDate(subscriber));
    for (const resumer of ready) this.#remove(resumer);
    this.#services.again([...ready, ...this.#later.splice(0)]);
  }

  /** The recordings have been cut off behind its place, or there was no room for them. */
  #beginAgain(): void {
    this.#isOver = true;
    const joined = [...this.#joined];
    for (const resumer of joined) this.#remove(resumer);
    this.#group.endReplay(this.#replaying);
    this.#services.again([...joined, ...this.#later.splice(0)]);
  }

  /** @param resumer has got all that has been dispatched */
  #remove(resumer: Resumer): void {
    this.#joined.delete(resumer);
    resumer.sequence = this.#sequence;
    this.#replaying.remove(resumer.subscriber);
  }

  /** What its subscribers have not got counts as lost. */
  giveUp(): void {
    this.#isOver = true;
    const subscribers = this.#subscribers();
    for (const subscriber of subscribers) this.#replaying.remove(subscriber);
    this.#group.endReplay(this.#replaying);
    this.#services.lost(subscribers);
  }

  #subscribers(): Subscriber[] {
    return [...this.#joined, ...this.#later].map(({ subscriber }) => subscriber);
  }
}
