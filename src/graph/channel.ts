import type { Arguments, Binding } from './graph.ts';
import { GraphQLError } from 'graphql';

/** The channel that carries every event of a topic. */
export function topicChannel(prefix: string, topic: string): string {
  return prefix + topic;
}

/** The channel that carries the events of a topic whose field `key` has this value (or holds it, if it is a list). */
export function keyChannel(prefix: string, topic: string, key: string, value: unknown): string {
  return `${prefix}${topic}:${key}=${encodeURIComponent(String(value))}`;
}

/**
 * The channels that a subscription listens to, each once.
 * A key argument picks one, a list several; null or absent means the whole topic.
 *
 * @throws GraphQLError for an empty list, a null in the list, or more than `maxChannels`
 */
export function channelsOf(binding: Binding, args: Arguments, prefix: string, maxChannels: number): string[] {
  const { topic, key, field } = binding;
  const picked = key === undefined ? undefined : args[key];
  if (key === undefined || picked === undefined || picked === null) return [topicChannel(prefix, topic)];
  const values = Array.isArray(picked) ? [...new Set(picked.map(String))] : [picked];
  if (values.length === 0) {
    throw new GraphQLError(
      `${field}: expected at least one ${key}, got an empty list. Leave it out for all.`,
    );
  }
  if (Array.isArray(picked) && picked.includes(null)) {
    throw new GraphQLError(`${field}: expected a list of ${key} without nulls, got one with null in it.`);
  }
  if (values.length > maxChannels) {
    throw new GraphQLError(
      `${field}: expected at most ${maxChannels} distinct ${key}, got ${values.length}.`,
    );
  }
  return values.map((value) => keyChannel(prefix, topic, key, value));
}
