import type { PassedOverReason } from '../events/trace.ts';
import type { ConsumedRecord } from './event-record.ts';
import type { Consumed, Explained, ExplainedStep, Known } from './explanation.ts';
import { shownList } from './shown-list.ts';

const PASSED_OVER: Readonly<Record<PassedOverReason, string>> = {
  no_field: 'no subscription field is bound to its topic',
  tombstone: 'it is a tombstone, a record without a value',
  too_old: 'it is older than EVENT_MAX_AGE_SECONDS',
  by_decode: "the graph's decode of its topic has left it out",
  deleted: 'it says that the row of its key is deleted',
  by_envelope: 'its envelope holds no object: a heartbeat, or the bounds of a transaction',
  duplicate: 'a CloudEvent of the same source and id has come before',
};

/** Explains what became of an event before it went to the bus. */
export function consumedOf({ at, undecodable, passedOver, routed, published }: ConsumedRecord): Consumed {
  const base = { at: new Date(at).toISOString(), channels: [], isPublished: null };
  if (undecodable !== undefined) {
    const text = `it could not be decoded: ${undecodable.reason}, ${undecodable.message}`;
    return { ...base, outcome: 'dead letter', steps: [{ step: 'decode', text }] };
  }
  if (passedOver !== undefined) {
    return {
      ...base,
      outcome: 'passed over',
      steps: [{ step: 'decode', text: PASSED_OVER[passedOver] }],
    };
  }
  const { keys = {}, isDecoded = false, channels = [] } = routed ?? {};
  const by = Object.entries(keys).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  const steps: ExplainedStep[] = [
    {
      step: 'decode',
      text: isDecoded
        ? 'it was decoded'
        : 'it was routed by its Kafka key, and is decoded only if it is published',
    },
    { step: 'route', text: routeText(by, channels) },
    { step: 'publish', text: publishedText(published) },
  ];
  return { ...base, outcome: 'routed', channels, isPublished: published ?? null, steps };
}

function routeText(by: readonly string[], channels: readonly string[] | null): string {
  if (channels === null) return 'to more channels than are kept of the last events';
  return `by ${by.length === 0 ? 'its topic' : by.join(', ')} to ${shownList(channels)}`;
}

function publishedText(published: boolean | undefined): string {
  if (published === undefined) return 'the bus has not acknowledged it yet';
  return published
    ? 'the bus has acknowledged it on its channels that have subscribers'
    : 'no process had a subscriber of its channels, so it was not published';
}

/** The knowledge of the process that holds a connection, from which it says why an event has not come there. */
export interface Holder extends Known {
  /** When the connection was opened, ISO 8601; null: no connection is asked for. */
  readonly opened: string | null;
}

/** The time since which the process knows of all events that came to it: ISO 8601. */
export function knownSince({ recording, kept }: Known): string {
  return isBefore(kept.arrived.since, recording.since) ? kept.arrived.since : recording.since;
}

/** Explains why an event that was consumed has not come to a subscription. */
export function withoutArrival(
  { field, channels }: { readonly field: string; readonly channels: readonly string[] },
  consumed: Consumed,
  holder: Holder,
): Explained {
  if (consumed.outcome !== 'routed') return { verdict: consumed.outcome, steps: [] };
  const listens: ExplainedStep = { step: 'channel', text: `${field} listens to ${shownList(channels)}` };
  if (consumed.channels === null) return { verdict: 'not kept', steps: [listens] };
  if (!consumed.channels.some((channel) => channels.includes(channel))) {
    return { verdict: 'other channel', steps: [listens] };
  }
  if (holder.opened !== null && isBefore(consumed.at, holder.opened)) {
    const text = `the connection was opened later, at ${holder.opened}`;
    return { verdict: 'before it connected', steps: [listens, { step: 'connect', text }] };
  }
  if (consumed.isPublished === false) return { verdict: 'not published', steps: [listens] };
  if (consumed.isPublished === null) {
    return { verdict: 'under way', steps: [listens] };
  }
  const since = knownSince(holder);
  if (isBefore(consumed.at, since)) {
    const text = `the process that holds the connection records since ${since} only`;
    return { verdict: 'not recorded', steps: [{ step: 'record', text }] };
  }
  const text = 'it was published, and has not come over a channel of this subscription';
  return { verdict: 'did not reach this process', steps: [listens, { step: 'channel', text }] };
}

const isBefore = (one: string, other: string): boolean => Date.parse(one) < Date.parse(other);
