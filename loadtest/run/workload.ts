import type { Load } from '../report/report.ts';

/** What every client asks. */
export const QUERY =
  'subscription Update($channel: ID, $tag: String) { update(channel: $channel, tag: $tag) { channel seq sent_at body_text } }';

/** Digits of `seq`: results of a run are all of one length, so that clients find it without parsing. */
export const SEQ_DIGITS = 10;

/** An event as its consumers see it. */
export interface Update {
  readonly channel: string;
  readonly seq: string;
  readonly sent_at: number;
  readonly body_text: string;
}

/** A channel's name; all are of one length. `index` counts from 0. */
export function channelName(index: number): string {
  return `c${String(index).padStart(5, '0')}`;
}

/** The channel that a socket watches, or that an event belongs to: both are dealt out in turn. */
export function channelOf(index: number, { channels }: Pick<Load, 'channels'>): string {
  return channelName(channels === 0 ? 0 : index % channels);
}

/** The variables of one socket's subscription. `index` counts from 0 over all sockets. */
export function variablesOf(
  index: number,
  load: Pick<Load, 'channels' | 'variables'>,
): Readonly<Record<string, string>> {
  return {
    ...(load.channels > 0 && { channel: channelOf(index, load) }),
    ...(load.variables === 'unique' && { tag: `tag-${String(index).padStart(6, '0')}` }),
  };
}

/** The id of one socket's subscription: graphql-ws clients make up UUIDs, some others count. */
export function idOf(index: number, { ids }: Pick<Load, 'ids'>): string {
  return ids === 'same' ? '1' : `5ec1a1f0-0000-4000-8000-${String(index).padStart(12, '0')}`;
}

/** The whole JSON of a result whose body is empty. */
const BARE_RESULT = JSON.stringify({
  data: {
    update: { channel: channelName(0), seq: '0'.repeat(SEQ_DIGITS), sent_at: Date.now(), body_text: '' },
  },
});

const WORDS = 'three bedrooms, south-facing garden, oak floors, quiet street near the station; ';

/** The text that brings a result up to `payloadBytes` of JSON. */
export function bodyText({ payloadBytes }: Pick<Load, 'payloadBytes'>): string {
  const length = Math.max(0, payloadBytes - BARE_RESULT.length);
  return WORDS.repeat(Math.ceil(length / WORDS.length)).slice(0, length);
}

/** An event as a producer writes it. */
export function eventValue(channel: string, seq: number, sentAt: number, body: string): string {
  const padded = String(seq).padStart(SEQ_DIGITS, '0');
  return JSON.stringify({ channel, seq: padded, sentAt, bodyText: body });
}
