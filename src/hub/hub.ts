import { GraphQLError } from 'graphql';
import type { Bus, Subscription } from '../bus/bus.ts';
import type { Operation } from '../executor/operation.ts';
import { channelsOf } from './subscription-channels.ts';
import type { Arguments, Graph } from '../graph/graph.ts';
import { messageOf } from '../errors.ts';
import { decodeMessage } from '../events/message.ts';
import { Backlog } from './backlog.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { declaredVariables, variablesKey } from './group-key.ts';
import type { Contexts } from '../context/event-scope.ts';
import { Group, type EventExecutor, type GroupServices, type Question } from './group.ts';
import { inspect, type HubInspection } from './inspection.ts';
import { RecentScopes } from './recent-scopes.ts';
import type { Member } from './subscriber.ts';
import { ChannelOffsets } from './dedupe.ts';
import { UNITS } from './work-budget.ts';

interface SubscriptionExecutor extends EventExecutor {
  subscriptionField(
    operation: Operation,
    variables: Readonly<Record<string, unknown>>,
  ): { field: string; args: Arguments } | readonly GraphQLError[];
}

interface HubOptions extends Omit<GroupServices, 'executor'> {
  readonly graph: Pick<Graph, 'bindings' | 'hasResolvers'>;
  readonly contexts: Contexts;
  readonly bus: Pick<Bus, 'subscribe' | 'pause' | 'resume'>;
  readonly executor: SubscriptionExecutor;
  readonly channelPrefix: string;
  readonly maxChannels: number;
}

/** One channel of the bus with the groups that listen to it. */
interface HubChannel {
  readonly name: string;
  readonly groups: Set<Group>;
  readonly offsets: ChannelOffsets;
}

/**
 * Brings what the bus carries to those who asked for it. Subscribers with the same operation and variables form a
 * group; a channel hands each of its events to the groups that listen to it.
 */
export class Hub {
  readonly #options: HubOptions;
  readonly #groups = new Map<Operation, Map<string, Group>>();
  readonly #channels = new Map<string, HubChannel & { readonly subscription: Subscription }>();
  readonly #backlog: Backlog<HubChannel>;
  readonly #scopes: RecentScopes;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#scopes = new RecentScopes(options.contexts);
    const { flusher, bus, metrics } = options;
    this.#backlog = new Backlog(
      (channel, payload) => this.#take(channel, payload),
      flusher,
      bus,
      metrics.backlog,
    );
  }

  /**
   * Takes a subscriber in. It gets the events handed over from now on.
   *
   * @returns the group it is in, to leave by; or errors, if the variables or arguments can't be used
   */
  join(
    operation: Operation,
    variables: Readonly<Record<string, unknown>>,
    member: Member,
  ): Group | readonly GraphQLError[] {
    const key = variablesKey(operation.variableNames, variables);
    const known = this.#groups.get(operation)?.get(key);
    if (known !== undefined) {
      known.add(member);
      return known;
    }
    const question = this.#understand(operation, key, variables);
    if (!('operation' in question)) return question;
    const group = new Group(question, this.#options);
    group.add(member);
    this.#open(group);
    return group;
  }

  /** Does nothing for somebody who has left already. */
  leave(group: Group, member: Member): void {
    if (group.remove(member) && group.size === 0) this.#close(group);
  }

  /** What there is to see: everything counted, and the largest groups and channels, up to `limit` of each. */
  inspect(limit: number): HubInspection {
    const groups = [...this.#groups.values()].flatMap((byVariables) => [...byVariables.values()]);
    return inspect(groups, this.#channels, this.#options.limiter, limit);
  }

  #understand(
    operation: Operation,
    key: string,
    variables: Readonly<Record<string, unknown>>,
  ): Question | readonly GraphQLError[] {
    const { executor, graph, channelPrefix, maxChannels } = this.#options;
    const declared = Object.freeze(declaredVariables(operation.variableNames, variables));
    const asked = executor.subscriptionField(operation, declared);
    if (!('field' in asked)) return asked;
    const binding = graph.bindings.get(asked.field);
    if (binding === undefined) return [new GraphQLError(`The field ${asked.field} is not bound to a topic.`)];
    try {
      const channels = channelsOf(binding, asked.args, channelPrefix, maxChannels);
      const filter = binding.filter?.(asked.args);
      return {
        operation,
        key,
        variables: declared,
        channels,
        field: binding.field,
        filter,
        shares: binding.shares,
      };
    } catch (error) {
      return [error instanceof GraphQLError ? error : new GraphQLError(messageOf(error))];
    }
  }

  #open(group: Group): void {
    const { operation, key, channels } = group.question;
    const groups = this.#groups.get(operation) ?? new Map<string, Group>();
    this.#groups.set(operation, groups.set(key, group));
    this.#options.metrics.groups.inc();
    const joining = channels.map((name) => {
      const channel = this.#channels.get(name) ?? this.#listen(name);
      channel.groups.add(group);
      return channel.subscription.ready;
    });
    void Promise.all(joining).then(
      () => this.#isOpen(group) && group.goLive(),
      (error: unknown) => this.#fail(group, error),
    );
  }

  #close(group: Group): void {
    if (!this.#isOpen(group)) return;
    const { operation, key, channels } = group.question;
    const groups = this.#groups.get(operation);
    groups?.delete(key);
    if (groups?.size === 0) this.#groups.delete(operation);
    this.#options.metrics.groups.dec();
    for (const name of channels) {
      const channel = this.#channels.get(name);
      if (channel?.groups.delete(group) !== true || channel.groups.size > 0) continue;
      this.#channels.delete(name);
      channel.subscription.leave();
    }
  }

  #isOpen({ question }: Group): boolean {
    return this.#groups.get(question.operation)?.get(question.key)?.question === question;
  }

  /** The bus has refused a channel: the subscribers are told, rather than left waiting for events that never come. */
  #fail(group: Group, cause: unknown): void {
    if (!this.#isOpen(group)) return;
    this.#options.log.error(
      { err: cause, channels: group.question.channels },
      'a channel could not be joined',
    );
    this.#close(group);
    group.end([
      new GraphQLError('The event source could not be joined.', { extensions: { code: 'BUS_UNAVAILABLE' } }),
    ]);
  }

  #listen(name: string): HubChannel & { readonly subscription: Subscription } {
    const listening: HubChannel = { name, groups: new Set<Group>(), offsets: new ChannelOffsets() };
    const subscription = this.#options.bus.subscribe(name, (payload) =>
      this.#backlog.add(listening, payload),
    );
    const channel = { ...listening, subscription };
    this.#channels.set(name, channel);
    return channel;
  }

  /** Nobody is left on a channel that has been closed while its messages waited. */
  #take(channel: HubChannel, payload: Buffer | string): void {
    const { flusher } = this.#options;
    flusher.spend(UNITS.message);
    if (channel.groups.size === 0) return;
    flusher.spend(payload.length * UNITS.byte);
    try {
      this.#receive(channel, payload);
    } catch (error) {
      this.#options.log.error({ err: error, channel: channel.name }, 'a message could not be taken');
    }
  }

  #receive({ name, groups, offsets }: HubChannel, payload: Buffer | string): void {
    const { graph, metrics, log } = this.#options;
    const message = decodeMessage(payload);
    if (message === undefined) {
      metrics.skippedMessages.inc({ reason: 'unknown_version' });
      return;
    }
    const verdict = offsets.see(message);
    if (verdict === 'seen') {
      metrics.duplicates.inc();
      return;
    }
    if (verdict === 'restarted') {
      const { t: topic, p: partition, o: offset } = message;
      log.warn({ channel: name, topic, partition, offset }, 'offsets begin again: the topic was made anew');
    }
    if (graph.hasResolvers) deepFreeze(message.event);
    const scope = this.#scopes.of(message);
    for (const group of groups) {
      try {
        group.handOver(message, scope);
      } catch (error) {
        log.error({ err: error, channel: name }, 'a group failed on an event');
      }
    }
  }
}
