import type { EventPlace, EventTracer, HubStep, IngestStep, SlowStep, TracedGroup } from '../events/trace.ts';
import type { Json } from '../lazy/reads.ts';
import type { ConsumedRecord, DeliveryRecord, EventRecord, GroupRecord } from './event-record.ts';

/** The part of a connection that a watch reads. */
export interface WatchedConnection {
  readonly id: string;
  /** Seconds since 1970. */
  readonly openedAt: number;
  readonly viewer: Json;
  readonly sendQueue: {
    /** Undefined: the socket has taken all results. */
    readonly slowSince: number | undefined;
    readonly waitingBytes: number;
  };
}

/** The most events kept; the event seen first is dropped for one more. */
const MAX_EVENTS = 1_000;

/** The most errors kept of one group for one event. */
const MAX_ERRORS = 5;

/** The most paths of differing viewers kept of one group for one event. */
const MAX_SPLITS = 5;

/** Records what becomes of the events of one topic, in the groups of one connection and before they are published. */
export class Watch {
  readonly topic: string;
  /** ms since 1970 */
  readonly since: number;
  /** When the watch ends unless it is asked for again, ms since 1970. */
  until = 0;
  /** Undefined: the watch records only what becomes of events before they are published. */
  readonly #connection: WatchedConnection | undefined;
  readonly #now: () => number;
  /** Records by the event's place, the oldest first. */
  readonly #events = new Map<string, EventRecord>();
  /** Deliveries by their results, as long as the results exist. */
  readonly #deliveries = new WeakMap<object, DeliveryRecord>();
  /** Deliveries that are neither written nor left out. */
  readonly #unwritten = new Set<DeliveryRecord>();

  /** @param now ms since 1970 */
  constructor(connection: WatchedConnection | undefined, topic: string, now: () => number) {
    this.#connection = connection;
    this.topic = topic;
    this.#now = now;
    this.since = now();
  }

  get size(): number {
    return this.#events.size;
  }

  /** The record of the event seen first comes first. */
  get records(): Iterable<EventRecord> {
    return this.#events.values();
  }

  find(place: EventPlace): EventRecord | undefined {
    return this.#events.get(keyOf(place));
  }

  readonly take: EventTracer = (step) => {
    if ('record' in step) {
      if (step.record.topic === this.topic) this.#ingested(step);
    } else if (this.#connection === undefined) {
      return;
    } else if (!('message' in step)) {
      this.#slow(step, this.#connection);
    } else if (step.message.t === this.topic) {
      this.#inHub(step, this.#connection);
    }
  };

  #ingested(step: IngestStep): void {
    const event = this.#of(step.record);
    const record: ConsumedRecord = (event.consumed ??= { at: this.#now() });
    switch (step.step) {
      case 'passed_over':
        record.passedOver = step.reason;
        break;
      case 'undecodable':
        record.undecodable = { reason: step.error.reason, message: step.error.message };
        break;
      case 'routed':
        record.routed = routed(step);
        break;
      case 'unsubscribed':
        record.published = false;
        break;
      case 'published':
        record.published = true;
        break;
    }
  }

  #inHub(step: HubStep, connection: WatchedConnection): void {
    const { t: topic, p: partition, o: offset } = step.message;
    const record = this.#of({ topic, partition, offset });
    if (step.step === 'duplicate') {
      record.duplicateOn = step.channel;
      return;
    }
    if (step.step === 'held' || step.step === 'filtered' || step.step === 'dispatched') {
      this.#begin(step, record, connection);
      return;
    }
    const group = record.groups.get(step.group);
    if (group === undefined) return;
    switch (step.step) {
      case 'superseded': {
        const { t, p, o } = step.by;
        if (this.#ownIn(step.subscribers) === undefined) break;
        group.supersededBy = { topic: t, partition: p, offset: o };
        break;
      }
      case 'executed':
        group.fetches = [...step.fetches];
        executed(group, step.errors);
        break;
      case 'split':
        if (group.splits.size < MAX_SPLITS) group.splits.add(step.path);
        break;
      case 'settled': {
        const { subscribers, reads } = step;
        if (this.#ownIn(subscribers) !== undefined) group.settled = { sharedBy: subscribers.size, reads };
        break;
      }
      case 'delivered':
        if (this.#ownIn(step.subscribers) !== undefined) this.#delivered(group, step.result, connection);
        break;
      case 'written':
        this.#written(this.#deliveries.get(step.result), connection);
        break;
    }
  }

  #begin(
    step: Extract<HubStep, { step: 'held' | 'filtered' | 'dispatched' }>,
    record: EventRecord,
    connection: WatchedConnection,
  ): void {
    const { group, message, subscribers } = step;
    if (this.#ownIn(subscribers) === undefined) return;
    const passing = step.step === 'filtered' ? new Set<object>() : step.passing;
    const own = this.#ownIn(passing);
    const begun = record.groups.get(group);
    const isHeld = step.step === 'held' && own !== undefined;
    record.groups.set(group, {
      executions: 0,
      splits: new Set(),
      errors: [],
      fetches: [],
      ...begun,
      state: isHeld ? 'held' : step.step === 'dispatched' ? 'dispatched' : 'filtered',
      subscribers: subscribers.size,
      passing: passing.size,
      passes: own !== undefined,
      comparisons: isHeld ? undefined : group.filter?.compared?.(message.event, connection.viewer),
      isSkipped: own !== undefined && step.step === 'dispatched' && step.isSkippedFor(own),
    });
  }

  #delivered(group: GroupRecord, result: object, { sendQueue }: WatchedConnection): void {
    const delivery: DeliveryRecord = {
      at: this.#now(),
      bytesAhead: sendQueue.slowSince === undefined ? 0 : sendQueue.waitingBytes,
    };
    group.delivery = delivery;
    this.#deliveries.set(result, delivery);
    this.#unwritten.add(delivery);
  }

  /** Called after the turn of the delivery, and at `caught_up`: until then a slow socket has not been written to. */
  #written(delivery: DeliveryRecord | undefined, { sendQueue }: WatchedConnection): void {
    if (delivery === undefined || sendQueue.slowSince !== undefined) return;
    if (!this.#unwritten.delete(delivery)) return;
    delivery.writtenAt = this.#now();
    delivery.bytesInSocket = sendQueue.waitingBytes;
  }

  #slow(step: SlowStep, connection: WatchedConnection): void {
    if (step.step === 'caught_up') {
      if (step.sendQueue !== connection.sendQueue) return;
      for (const delivery of this.#unwritten) this.#written(delivery, connection);
      return;
    }
    const delivery = this.#deliveries.get(step.result);
    if (delivery === undefined || this.#ownIn([step.subscriber]) === undefined) return;
    delivery.leftOutAt = this.#now();
    this.#unwritten.delete(delivery);
  }

  #of({ topic, partition, offset }: EventPlace): EventRecord {
    const place = { topic, partition, offset };
    const key = keyOf(place);
    const known = this.#events.get(key);
    if (known !== undefined) return known;
    const record: EventRecord = { place, groups: new Map<TracedGroup, GroupRecord>() };
    this.#events.set(key, record);
    if (this.#events.size > MAX_EVENTS) this.#dropOldest();
    return record;
  }

  #dropOldest(): void {
    for (const [key, { groups }] of this.#events) {
      this.#events.delete(key);
      for (const { delivery } of groups.values())
        if (delivery !== undefined) this.#unwritten.delete(delivery);
      return;
    }
  }

  /** @returns a subscriber of the connection */
  #ownIn(subscribers: Iterable<object>): object | undefined {
    for (const subscriber of subscribers) {
      if ((subscriber as { owner?: unknown }).owner === this.#connection) return subscriber;
    }
    return undefined;
  }
}

const keyOf = ({ topic, partition, offset }: EventPlace): string => `${topic} ${partition}/${offset}`;

function routed({ keys, event, channels, record }: Extract<IngestStep, { step: 'routed' }>) {
  const valueOf = (name: string) => {
    if (event === undefined) return record.key?.toString() ?? null;
    return Object.hasOwn(event, name) ? (event[name] ?? null) : null;
  };
  const values = Object.fromEntries(keys.map((name) => [name, valueOf(name)]));
  return { keys: values, isDecoded: event !== undefined, channels };
}

function executed(group: GroupRecord, errors: Extract<HubStep, { step: 'executed' }>['errors'] = []): void {
  group.executions += 1;
  const texts = errors.map(({ message, path }) =>
    path === undefined ? message : `${path.join('.')}: ${message}`,
  );
  group.errors = [...group.errors, ...texts].slice(0, MAX_ERRORS);
}
