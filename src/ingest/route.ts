import { keyChannel, topicChannel } from '../events/channel.ts';
import type { Topic } from '../graph/graph.ts';
import type { Event, JsonValue } from '../events/event.ts';
import { DecodeError } from '../events/decode-error.ts';

/** Distinct channels of one event in one stream. Each carries the whole payload, so a long list under a key would multiply it. */
export const MAX_EVENT_CHANNELS = 1_000;

/**
 * Returns the channels of an event, stream by stream: that of the whole stream, and for each key that of its value, or of
 * each distinct element if it is a list. A value that is missing, null or an object has no channel.
 *
 * @param values of the topic's keys in the event
 * @throws DecodeError `too_many_keys`
 */
export function route(values: Event, { streams, keys }: Topic, prefix: string): string[] {
  const channels: string[] = [];
  for (const { name } of streams) routeTo(channels, name, values, keys, prefix);
  return channels;
}

function routeTo(
  channels: string[],
  stream: string,
  values: Event,
  keys: readonly string[],
  prefix: string,
): void {
  const before = channels.length;
  channels.push(topicChannel(prefix, stream));
  for (const key of keys) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    if (!Array.isArray(value)) {
      const channel = channelOf(value, key, stream, prefix);
      if (channel !== undefined) channels.push(channel);
      continue;
    }
    const distinct = new Set<string>();
    for (const element of value) {
      const channel = channelOf(element, key, stream, prefix);
      if (channel !== undefined) distinct.add(channel);
      if (channels.length - before + distinct.size > MAX_EVENT_CHANNELS) throw tooMany(key);
    }
    channels.push(...distinct);
  }
}

function channelOf(
  value: JsonValue | undefined,
  key: string,
  stream: string,
  prefix: string,
): string | undefined {
  if (value === undefined || value === null || typeof value === 'object') return undefined;
  try {
    return keyChannel(prefix, stream, key, value);
  } catch {
    // Half of a surrogate pair can't be encoded, so no subscriber can ask for it either.
    return undefined;
  }
}

function tooMany(key: string): DecodeError {
  return new DecodeError(
    'too_many_keys',
    `expected at most ${MAX_EVENT_CHANNELS} channels for one event, got more under ${key}`,
  );
}
