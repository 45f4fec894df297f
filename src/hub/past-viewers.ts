import type { Json } from '../lazy/reads.ts';
import type { PendingEvent } from './delivery-order.ts';
import type { Subscriber } from './subscriber.ts';

interface PastViewer {
  readonly viewer: Json;
  /** Sequence of the last event that began with it. */
  readonly until: number;
}

type Sequenced = Pick<PendingEvent, 'sequence'>;

/**
 * The viewers that subscribers of a group had before, for events that were under way when a viewer was replaced: each
 * event is finished with the viewers with which it began. Holds nothing while no event of that time is pending.
 */
export class PastViewers {
  /** The past viewers of each subscriber, oldest first. */
  #past: Map<Subscriber, PastViewer[]> | undefined;
  #until = 0;
  /** No event before this one was pending when viewers that are not needed any more were last removed. */
  #needed = 0;

  /**
   * @param previous the viewer until now
   * @param pending sequences of the oldest and the newest event that is pending
   */
  replaced(subscriber: Subscriber, previous: Json, pending: { first: number; last: number }): void {
    this.#past ??= new Map();
    if (pending.first > this.#needed) this.#letGo(this.#past, pending.first);
    const viewers = this.#past.get(subscriber) ?? [];
    viewers.push({ viewer: previous, until: pending.last });
    this.#past.set(subscriber, viewers);
    this.#until = pending.last;
  }

  /** Looks at all subscribers, so it must not be called for each of them. */
  #letGo(past: Map<Subscriber, PastViewer[]>, first: number): void {
    this.#needed = first;
    for (const [subscriber, viewers] of past) {
      const needed = viewers.filter(({ until }) => until >= first);
      if (needed.length > 0) past.set(subscriber, needed);
      else past.delete(subscriber);
    }
  }

  /** Whether all subscribers have the viewers now with which this event began. */
  areNowAsAt({ sequence }: Sequenced): boolean {
    return this.#past === undefined || sequence > this.#until;
  }

  /** The viewer with which this event is executed for a subscriber. */
  at({ sequence }: Sequenced, subscriber: Subscriber): Json {
    const past = this.#past?.get(subscriber)?.find(({ until }) => sequence <= until);
    return past === undefined ? subscriber.viewer : past.viewer;
  }

  /** No event is pending any more. */
  clear(): void {
    this.#past = undefined;
  }
}
