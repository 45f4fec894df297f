import { valuesOfKeys } from '../events/channel.ts';
import type { EventTracer, IngestStep, PassedOverReason, TracedSteps } from '../events/trace.ts';
import { shortened } from '../support/shortened.ts';
import type { ConsumedRecord } from './event-record.ts';
import { RecentEvents, type KeptEvent, type TopicEvents } from './recent-events.ts';

/** The decisions of this process on an event. */
export interface KeptConsumed extends KeptEvent {
  /** Kafka key, a character for each byte. Null: the event has none, or a long one. */
  readonly key: string | null;
  /** Fields by which subscriptions pick events of the topic. Undefined: the event was not routed. */
  keys: readonly string[] | undefined;
  isDecoded: boolean;
  /** Null: the channels take more room than there is. */
  channels: readonly string[] | null;
  passedOver: PassedOverReason | undefined;
  undecodable: ConsumedRecord['undecodable'];
  published: boolean | undefined;
}

/** Approximate bytes of an event without its characters. */
const EVENT_BYTES = 256;
const CHANNEL_BYTES = 48;

/** A longer Kafka key is not kept. */
const MAX_KEY_BYTES = 256;

/** The most characters kept of an error message, which the graph's own decode may have thrown. */
const MAX_MESSAGE = 500;

const NONE: readonly string[] = [];

/** Keeps what became of the last events that this process has consumed, and hands all steps on. */
export class RecentlyConsumed implements TracedSteps {
  readonly #events: RecentEvents<KeptConsumed>;
  readonly #next: TracedSteps;
  readonly #now: () => number;

  /**
   * @param next is told each step too, while it has a listener
   * @param maxBytes the bytes of all events kept
   * @param now ms since 1970
   */
  constructor(next: TracedSteps, maxBytes: number, now: () => number) {
    this.#next = next;
    this.#now = now;
    this.#events = new RecentEvents(maxBytes, now);
  }

  readonly listener: EventTracer = (step) => {
    if ('record' in step) this.#take(step);
    this.#next.listener?.(step);
  };

  of(topic: string): TopicEvents<KeptConsumed> {
    return this.#events.of(topic);
  }

  #take(step: IngestStep): void {
    const { topic, partition, offset } = step.record;
    // The graph does not have this topic: the names of unknown topics would add up.
    if (step.step === 'passed_over' && step.reason === 'no_field') return;
    const events = this.#events.for(topic);
    const met = events.find(partition, offset);
    // If `published` is set, the event was consumed to its end before, and is consumed again.
    const known = met?.published === undefined ? met : undefined;
    switch (step.step) {
      case 'routed':
        this.#routed(step, events, known);
        break;
      case 'published':
      case 'unsubscribed':
        if (met !== undefined) met.published = step.step === 'published';
        break;
      case 'passed_over':
        (known ?? this.#add(events, step.record)).passedOver = step.reason;
        break;
      case 'undecodable': {
        const { reason, message } = step.error;
        const kept = known ?? this.#add(events, step.record);
        kept.undecodable = { reason, message: shortened(message, MAX_MESSAGE) };
        events.resize(kept, kept.bytes + kept.undecodable.message.length);
        break;
      }
    }
  }

  #routed(
    { record, keys, event, channels }: Extract<IngestStep, { step: 'routed' }>,
    events: TopicEvents<KeptConsumed>,
    known: KeptConsumed | undefined,
  ): void {
    let bytes = EVENT_BYTES;
    for (const channel of channels) bytes += CHANNEL_BYTES + channel.length;
    const kept = bytes <= events.room ? channels : null;
    if (kept === null) bytes = EVENT_BYTES;
    // Otherwise the event has been routed by its Kafka key before.
    if (known === undefined || known.isDecoded) {
      this.#add(events, record, bytes, keys, event !== undefined, kept);
      return;
    }
    known.keys = keys;
    known.isDecoded = event !== undefined;
    known.channels = kept;
    events.resize(known, bytes);
  }

  #add(
    events: TopicEvents<KeptConsumed>,
    { partition, offset, key }: Extract<IngestStep, { step: 'routed' }>['record'],
    bytes = EVENT_BYTES,
    keys: readonly string[] | undefined = undefined,
    isDecoded = false,
    channels: readonly string[] | null = NONE,
  ): KeptConsumed {
    const isKept = key !== null && key.length <= MAX_KEY_BYTES;
    const kept: KeptConsumed = {
      partition,
      offset,
      at: this.#now(),
      bytes,
      key: isKept ? key.toString('latin1') : null,
      keys,
      isDecoded,
      channels,
      passedOver: undefined,
      undecodable: undefined,
      published: undefined,
    };
    events.add(kept);
    return kept;
  }
}

/** Returns a kept event in the form that a watch records. */
export function recordOf({ at, keys, isDecoded, channels, ...rest }: KeptConsumed): ConsumedRecord {
  const { passedOver, undecodable, published } = rest;
  const routed = keys && { keys: valuesOfKeys(channels ?? [], keys), isDecoded, channels };
  return {
    at,
    ...(routed !== undefined && { routed }),
    ...(passedOver !== undefined && { passedOver }),
    ...(undecodable !== undefined && { undecodable }),
    ...(published !== undefined && { published }),
  };
}
