/** The subscription fields of loadtest/graphs/chaos. */
export const FIELDS = ['update', 'updates', 'delayed_update', 'unkept_update'] as const;

export type Field = (typeof FIELDS)[number];

/** The subscription of one client. */
export interface Subscription {
  readonly field: Field;
  readonly channels: readonly string[];
  /** The client knows nothing of cursors and gaps, like stock clients. */
  readonly isStock?: true;
}

/** The payload of an event. */
export interface Update {
  readonly channel: string;
  /** The number of the event in its channel, from 1 on. */
  readonly n: number;
  /** When the event was sent: ms since 1970. */
  readonly sent_at: number;
}

/** The number of channels of a subscription to `updates`. */
const LISTED = 3;

/** Whether the gateway keeps a history of the field's topic. */
export const isKept = (field: Field): boolean => field !== 'unkept_update';

export const channelName = (index: number): string => `c${index}`;

/** A channel that only clients subscribe to whose events are timed. */
export const TIMED = 'timed';

/** The subscription of these clients: its field has no resolver that waits. */
export const TIMED_SUBSCRIPTION: Subscription = { field: 'update', channels: [TIMED] };

/** Returns a stock client's subscription, always to the field without history. */
export function stockSubscriptionOf(client: number, channels: number): Subscription {
  return { field: 'unkept_update', channels: [channelName(client % channels)], isStock: true };
}

/** Three in 20 clients list several channels, three wait for a resolver, and one has no history. */
export function subscriptionOf(client: number, channels: number): Subscription {
  const kind = client % 20;
  const first = Math.floor(client / 20) + kind;
  const channel = (offset: number): string => channelName((first + offset) % channels);
  if (kind === 0) return { field: 'unkept_update', channels: [channel(0)] };
  if (kind <= 3) {
    const count = Math.min(LISTED, channels);
    return { field: 'updates', channels: Array.from({ length: count }, (_, index) => channel(index)) };
  }
  return { field: kind <= 6 ? 'delayed_update' : 'update', channels: [channel(0)] };
}

/** Subscriptions with equal results of this function share executions. */
export const groupOf = ({ field, channels }: Subscription): string => `${field}(${channels.join()})`;

/** The payload of `subscribe`. */
export function operationOf({ field, channels, isStock }: Subscription, cursor: string | null): object {
  const isList = field === 'updates';
  return {
    query: `subscription ($channel: ${isList ? '[ID!]!' : 'ID!'}) {
      event: ${field}(channel: $channel) { channel n sent_at }
    }`,
    variables: { channel: isList ? channels : channels[0] },
    ...(isStock !== true && { extensions: { resume: cursor } }),
  };
}
