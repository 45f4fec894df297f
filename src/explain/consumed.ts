import type { PassedOverReason } from '../events/trace.ts';
import type { ConsumedRecord } from './event-record.ts';
import type { Consumed, Explained, ExplainedStep } from './explanation.ts';
import { shownList } from './shown-list.ts';

const PASSED_OVER: Readonly<Record<PassedOverReason, string>> = {
  no_field: 'no subscription field is bound to its topic',
  tombstone: 'it is a tombstone, a record without a value',
  too_old: 'it is older than EVENT_MAX_AGE_SECONDS',
  by_decode: "the graph's decode of its topic has left it out",
};

/** What is told of an event before it went to the bus. */
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
    { step: 'route', text: `by ${by.length === 0 ? 'its topic' : by.join(', ')} to ${shownList(channels)}` },
    { step: 'publish', text: publishedText(published) },
  ];
  return { ...base, outcome: 'routed', channels, isPublished: published ?? null, steps };
}

function publishedText(published: boolean | undefined): string {
  if (published === undefined) return 'the bus has not acknowledged it yet';
  return published
    ? 'the bus has acknowledged it on its channels that have subscribers'
    : 'no process had a subscriber of its channels, so it was not published';
}

/** Why an event that was consumed has not come to a subscription. */
export function withoutArrival(
  { field, channels }: { readonly field: string; readonly channels: readonly string[] },
  consumed: Consumed,
): Explained {
  if (consumed.outcome !== 'routed') return { verdict: consumed.outcome, steps: [] };
  const listens: ExplainedStep = { step: 'channel', text: `${field} listens to ${shownList(channels)}` };
  if (!consumed.channels.some((channel) => channels.includes(channel))) {
    return { verdict: 'other channel', steps: [listens] };
  }
  if (consumed.isPublished === false) return { verdict: 'not published', steps: [listens] };
  if (consumed.isPublished === null) {
    return { verdict: 'under way', steps: [listens] };
  }
  const text = 'it was published, and has not come over a channel of this subscription';
  return { verdict: 'did not reach this process', steps: [listens, { step: 'channel', text }] };
}
