import type { JsonValue } from '../events/event.ts';
import { valuesOfKeys } from '../events/channel.ts';
import type { EventRecord } from './event-record.ts';
import type { LastEvents } from './explanation.ts';
import { messageOf, type KeptArrived } from './recently-arrived.ts';
import type { KeptConsumed } from './recently-consumed.ts';

/** The most events in one answer. */
const MOST_LAST = 5;

/** The events of a topic that are asked for; an undefined partition or key may be any. */
export interface LastQuestion {
  readonly topic: string;
  readonly partition: number | undefined;
  /** Value of a field by which subscriptions pick events, or Kafka key. */
  readonly key: string | undefined;
}

interface Places {
  readonly consumed: Iterable<KeptConsumed>;
  readonly arrived: Iterable<KeptArrived>;
  readonly recorded: Iterable<EventRecord>;
}

/**
 * The last events that one process has consumed, or that have come to it.
 *
 * @param keys fields by which subscriptions pick events of the topic
 */
export function lastEvents(
  { partition, key }: LastQuestion,
  { consumed, arrived, recorded }: Places,
  keys: readonly string[],
): LastEvents['events'] {
  const found = new Map<string, { partition: number; offset: number; at: number }>();
  const find = (place: { partition: number; offset: number }, at: number, isOfKey: () => boolean): void => {
    if (partition !== undefined && place.partition !== partition) return;
    const name = `${place.partition}/${place.offset}`;
    if (!found.has(name) && (key === undefined || isOfKey())) {
      found.set(name, { partition: place.partition, offset: place.offset, at });
    }
  };
  const asked = key ?? '';
  for (const kept of consumed) find(kept, kept.at, () => isConsumedOf(kept, asked));
  for (const { place, consumed: record } of recorded) {
    if (record === undefined) continue;
    find(place, record.at, () => hasValue(record.routed?.keys ?? {}, asked));
  }
  for (const kept of arrived) find(kept, kept.at, () => isArrivedOf(kept, asked, keys));
  return [...found.values()]
    .toSorted((one, other) => other.at - one.at || other.offset - one.offset)
    .slice(0, MOST_LAST)
    .map(({ at, ...place }) => ({ ...place, at: new Date(at).toISOString() }));
}

function isConsumedOf({ key, keys = [], channels }: KeptConsumed, asked: string): boolean {
  return key === Buffer.from(asked).toString('latin1') || hasValue(valuesOfKeys(channels ?? [], keys), asked);
}

function isArrivedOf(kept: KeptArrived, asked: string, keys: readonly string[]): boolean {
  const message = messageOf(kept);
  if (message === undefined) return false;
  const { key, event } = message;
  return (
    key === asked ||
    keys.some((name) => Object.hasOwn(event, name) && hasValue({ [name]: event[name] ?? null }, asked))
  );
}

/** Compares values as text, as the names of channels have them. */
function hasValue(values: Readonly<Record<string, JsonValue>>, asked: string): boolean {
  return Object.values(values)
    .flat()
    .some((value) => value !== null && typeof value !== 'object' && String(value) === asked);
}
