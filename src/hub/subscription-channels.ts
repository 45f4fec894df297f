import { GraphQLError, type GraphQLErrorOptions } from 'graphql';
import { keyChannel, topicChannel } from '../events/channel.ts';
import type { Arguments, Binding } from '../graph/graph.ts';

/**
 * The channels that a subscription listens to, each once. A key argument picks one, a list several; null or absent means
 * the whole topic.
 *
 * @throws GraphQLError for an empty list, a null in the list, a value that is not plain, or more than `maxChannels`
 */
export function channelsOf(binding: Binding, args: Arguments, prefix: string, maxChannels: number): string[] {
  const { topic, key, argument = key, keyRequired = false, keyForm, field } = binding;
  const picked = argument === undefined ? undefined : args[argument];
  if (key === undefined || picked === undefined || picked === null) return [topicChannel(prefix, topic)];
  const values: unknown[] = Array.isArray(picked) ? picked : [picked];
  const fault = (got: string, options?: GraphQLErrorOptions): GraphQLError =>
    new GraphQLError(`${field}: expected ${argument} to be ${got}.`, options);
  if (values.length === 0) {
    throw fault(`at least one value, got an empty list${keyRequired ? '' : '; leave it out for all'}`);
  }
  if (values.includes(null)) throw fault('a list without nulls, got one with null in it');
  const channels = new Set<string>();
  for (const value of values) {
    const form = keyForm(value);
    if (typeof form === 'object' || form === undefined)
      throw fault('text, a number or a boolean, got something else');
    channels.add(keyChannel(prefix, topic, key, form));
  }
  if (channels.size > maxChannels) {
    const got = `at most ${maxChannels} distinct values (MAX_CHANNELS), got ${channels.size}`;
    throw fault(got, { extensions: { code: 'TOO_MANY_CHANNELS' } });
  }
  return [...channels];
}
