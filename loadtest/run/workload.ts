import type { Load } from '../report/report.ts';

/** The subscription of every client. */
export const QUERY =
  'subscription Update($channel: ID, $tag: String) { update(channel: $channel, tag: $tag) { channel seq sent_at body_text } }';

/** Digits of `seq`: as all results of a run have the same length, clients find it without parsing. */
export const SEQ_DIGITS = 10;

/** An event as clients receive it. */
export interface Update {
  readonly channel: string;
  readonly seq: string;
  readonly sent_at: number;
  readonly body_text: string;
}

/** Returns a channel's name; all names have the same length. `index` counts from 0. */
export function channelName(index: number): string {
  return `c${String(index).padStart(5, '0')}`;
}

/** Returns the channel of a socket or an event: both are dealt out to channels in turn. */
export function channelOf(index: number, { channels }: Pick<Load, 'channels'>): string {
  return channelName(channels === 0 ? 0 : index % channels);
}

/** Returns the variables of one socket's subscription. `index` counts from 0 over all sockets. */
export function variablesOf(
  index: number,
  load: Pick<Load, 'channels' | 'variables'>,
): Readonly<Record<string, string>> {
  return {
    ...(load.channels > 0 && { channel: channelOf(index, load) }),
    ...(load.variables === 'unique' && { tag: `tag-${String(index).padStart(6, '0')}` }),
  };
}

/** Returns the id of one socket's subscription. Clients of graphql-ws use UUIDs, some other clients count. */
export function idOf(index: number, { ids }: Pick<Load, 'ids'>): string {
  return ids === 'same' ? '1' : `5ec1a1f0-0000-4000-8000-${String(index).padStart(12, '0')}`;
}

/** The full JSON of a result whose body is empty. */
const BARE_RESULT = JSON.stringify({
  data: {
    update: { channel: channelName(0), seq: '0'.repeat(SEQ_DIGITS), sent_at: Date.now(), body_text: '' },
  },
});

const WORDS = 'three bedrooms, south-facing garden, oak floors, quiet street near the station; ';

/** Returns a text that makes the JSON of a result `payloadBytes` long. */
export function bodyText({ payloadBytes }: Pick<Load, 'payloadBytes'>): string {
  const length = Math.max(0, payloadBytes - BARE_RESULT.length);
  return WORDS.repeat(Math.ceil(length / WORDS.length)).slice(0, length);
}

/** An event as a producer writes it. */
export interface WrittenEvent {
  readonly channel: string;
  readonly seq: string;
  readonly sentAt: number;
  readonly bodyText: string;
}

/** The value of an event's record. Centrifugo takes it as the payload of a command. */
export function eventValue(
  { transport }: Pick<Load, 'transport'>,
  channel: string,
  seq: number,
  sentAt: number,
  body: string,
): string {
  const padded = String(seq).padStart(SEQ_DIGITS, '0');
  const event: WrittenEvent = { channel, seq: padded, sentAt, bodyText: body };
  if (transport !== 'centrifugo') return JSON.stringify(event);
  return JSON.stringify({ method: 'publish', payload: { channel, data: event } });
}
