import { GraphQLError, type GraphQLErrorOptions } from 'graphql';
import { messageOf } from '../errors.ts';
import type { Executor } from '../executor/executor.ts';
import type { Operation } from '../executor/operation.ts';
import { bothFilters } from '../graph/auth/subscription.ts';
import type { Delivery, EventFilter, Graph, Arguments, Binding } from '../graph/graph.ts';
import type { Json } from '../lazy/reads.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { declaredVariables } from './group-key.ts';
import { keyChannel, topicChannel } from '../events/channel.ts';

/** What the subscribers of a group have asked for, worked out once for all of them. */
export interface SubscriptionPlan {
  readonly operation: Operation;
  /** Tells the group from the others of the same operation: see `variablesKey`. */
  readonly key: string;
  /** The variables as the client sent them, but only those that the operation declares; deep-frozen. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The stream. */
  readonly topic: string;
  /** Whether clients may resume: if not, they get no cursors, though pods with another graph may keep the topic. */
  readonly hasHistory: boolean;
  /** The channels of the topic, each once. */
  readonly channels: readonly string[];
  /** The subscription field. */
  readonly field: string;
  readonly filter: EventFilter | undefined;
  /** Why a viewer may not hold the subscription; undefined if it may. Absent if all may. */
  readonly refusal?: ((viewer: Json) => GraphQLError | undefined) | undefined;
  /** Subscribers whose viewers agree on all that was read share a result; otherwise each has its own execution. */
  readonly shares: boolean;
  /** Events of its channels that each subscriber begins with. */
  readonly replay: number;
  /** Absent if no event may be left out. */
  readonly delivery?: Delivery | undefined;
  /** Whether results may be compressed. */
  readonly compresses: boolean;
}

export interface PlanServices {
  readonly graph: Pick<Graph, 'bindings' | 'streams'>;
  readonly executor: Pick<Executor, 'subscriptionField'>;
  readonly channelPrefix: string;
  /** Most channels of one subscription. */
  readonly maxChannels: number;
}

/** @returns errors, if the variables or arguments can't be used */
export function planSubscription(
  operation: Operation,
  key: string,
  rawVariables: Readonly<Record<string, unknown>>,
  { executor, graph, channelPrefix, maxChannels }: PlanServices,
): SubscriptionPlan | readonly GraphQLError[] {
  const variables = declaredVariables(operation.variableNames, rawVariables);
  deepFreeze(variables);
  const root = executor.subscriptionField(operation, variables);
  if (!('field' in root)) return root;
  const binding = graph.bindings.get(root.field);
  if (binding === undefined) return [new GraphQLError(`The field ${root.field} is not bound to a topic.`)];
  try {
    const channels = channelsOf(binding, root.args, channelPrefix, maxChannels);
    const access = binding.access?.(root.args);
    const filter = bothFilters(binding.filter?.(root.args), access?.filter);
    const { topic, field, shares, replay = 0, delivery, compresses = true } = binding;
    return {
      operation,
      key,
      variables,
      topic,
      hasHistory: graph.streams.get(topic)?.history !== undefined,
      channels,
      field,
      filter,
      refusal: access?.refusal,
      shares,
      replay,
      delivery,
      compresses,
    };
  } catch (error) {
    return [error instanceof GraphQLError ? error : new GraphQLError(messageOf(error))];
  }
}

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
