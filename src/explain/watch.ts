import type { EventPlace, EventTracer, HubStep, IngestStep, TracedGroup } from '../events/trace.ts';
import type { Json } from '../lazy/reads.ts';
import type { EventRecord, GroupRecord } from './event-record.ts';

/** A connection as far as it is watched. */
export interface WatchedConnection {
  readonly id: string;
  readonly viewer: Json;
  readonly sendQueue: { readonly isSlow: boolean; readonly waitingBytes: number };
}

/** Events that are kept; the one seen first gives way. */
const MAX_EVENTS = 1_000;

/** Of one group, for one event. */
const MAX_ERRORS = 5;

/** Records how events of one topic are consumed, and what becomes of them in the groups of one connection. */
export class Watch {
  /** Undefined: of no connection of this process. */
  readonly connection: WatchedConnection | undefined;
  readonly topic: string;
  /** ms since 1970 */
  readonly since: number;
  /** Likewise: when it ends unless it is asked for again. */
  until = 0;
  readonly #now: () => number;
  /** By place, the oldest first. */
  readonly #events = new Map<string, EventRecord>();

  /** @param now ms since 1970 */
  constructor(connection: WatchedConnection | undefined, topic: string, now: () => number) {
    this.connection = connection;
    this.topic = topic;
    this.#now = now;
    this.since = now();
  }

  get size(): number {
    return this.#events.size;
  }

  find(place: EventPlace): EventRecord | undefined {
    return this.#events.get(keyOf(place));
  }

  readonly take: EventTracer = (step) => {
    if ('record' in step) {
      if (step.record.topic === this.topic) this.#ingested(step);
    } else if (step.message.t === this.topic) {
      this.#inHub(step);
    }
  };

  #ingested(step: IngestStep): void {
    const record = this.#of(step.record);
    switch (step.step) {
      case 'passed_over':
        record.passedOver = step.reason;
        break;
      case 'undecodable':
        record.undecodable = { reason: step.error.reason, message: step.error.message };
        break;
      case 'routed': {
        const {
          keys,
          event,
          channels,
          record: { key },
        } = step;
        const values = keys.map(
          (name) => [name, (event === undefined ? key?.toString() : event[name]) ?? null] as const,
        );
        record.routed = { keys: Object.fromEntries(values), channels };
        break;
      }
      case 'unsubscribed':
        record.published = false;
        break;
      case 'published':
        record.published = true;
        break;
    }
  }

  #inHub(step: HubStep): void {
    const { connection } = this;
    if (connection === undefined) return;
    const { t: topic, p: partition, o: offset } = step.message;
    const record = this.#of({ topic, partition, offset });
    if (step.step === 'duplicate') {
      record.duplicateOn = step.channel;
      return;
    }
    const known = record.groups.get(step.group);
    if (step.step === 'held' || step.step === 'filtered' || step.step === 'dispatched') {
      if (!this.#isIn(step.subscribers)) return;
      const passing = step.step === 'dispatched' ? step.passing : undefined;
      const state = passing?.size === 0 ? 'filtered' : step.step;
      record.groups.set(step.group, {
        event: step.message.event,
        executions: 0,
        errors: [],
        hasEnded: false,
        ...known,
        state,
        subscribers: step.subscribers.size,
        passing: passing?.size ?? 0,
        passes: passing !== undefined && this.#isIn(passing),
      });
      return;
    }
    if (known === undefined) return;
    if (step.step === 'executed') executed(known, step.errors);
    else if (step.step === 'ended') known.hasEnded = true;
    else if (this.#isIn(step.subscribers)) {
      const { isSlow, waitingBytes } = connection.sendQueue;
      const { subscribers, reads } = step;
      const [sharedBy, agreeOn] = [subscribers.size, reads.paths];
      known.delivered = { at: this.#now(), sharedBy, agreeOn, isSlow, waitingBytes };
    }
  }

  #of({ topic, partition, offset }: EventPlace): EventRecord {
    const place = { topic, partition, offset };
    const key = keyOf(place);
    const known = this.#events.get(key);
    if (known !== undefined) return known;
    const record: EventRecord = { place, seenAt: this.#now(), groups: new Map<TracedGroup, GroupRecord>() };
    this.#events.set(key, record);
    if (this.#events.size > MAX_EVENTS) {
      const [oldest] = this.#events.keys();
      this.#events.delete(oldest as string);
    }
    return record;
  }

  #isIn(subscribers: ReadonlySet<object>): boolean {
    for (const subscriber of subscribers) {
      if ((subscriber as { owner?: unknown }).owner === this.connection) return true;
    }
    return false;
  }
}

const keyOf = ({ topic, partition, offset }: EventPlace): string => `${topic} ${partition}/${offset}`;

function executed(group: GroupRecord, errors: Extract<HubStep, { step: 'executed' }>['errors'] = []): void {
  group.executions += 1;
  const texts = errors.map(({ message, path }) =>
    path === undefined ? message : `${path.join('.')}: ${message}`,
  );
  group.errors = [...group.errors, ...texts].slice(0, MAX_ERRORS);
}
