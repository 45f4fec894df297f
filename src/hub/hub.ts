import { GraphQLError } from 'graphql';
import type { Bus, Subscription } from '../bus/bus.ts';
import type { Contexts } from '../context/event-scope.ts';
import { decodeMessage } from '../events/message.ts';
import type { Executor } from '../executor/executor.ts';
import type { Operation } from '../executor/operation.ts';
import type { Graph } from '../graph/graph.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { FairLimiter } from '../support/fair-limiter.ts';
import { Backlog } from './backlog.ts';
import { ChannelOffsets } from './dedupe.ts';
import { variablesKey } from './group-key.ts';
import { Gaps, type GapPolicy } from './gaps.ts';
import { Group, type GroupServices } from './group.ts';
import { inspect, type HubInspection } from './inspection.ts';
import { groupRefusal, variablesSize } from './join-refusal.ts';
import { RecentScopes } from './recent-scopes.ts';
import type { Subscriber } from './subscriber.ts';
import { planSubscription, type PlanServices, type SubscriptionPlan } from './subscription-plan.ts';
import { UNITS } from './work-budget.ts';

interface HubOptions extends Omit<GroupServices, 'late'>, PlanServices {
  readonly graph: Pick<Graph, 'bindings' | 'hasResolvers'>;
  readonly contexts: Contexts;
  /** Without `room` it has no end. */
  readonly bus: Pick<Bus, 'subscribe' | 'onGap' | 'pause' | 'resume'> & Partial<Pick<Bus, 'room'>>;
  readonly executor: Pick<Executor, 'subscriptionField' | 'execute'>;
  readonly gapPolicy: GapPolicy;
  /** Most that the variables of all groups may take, in bytes. Default: no limit. */
  readonly maxVariables?: number;
}

/** Whether a subscriber may have a subscription: the error, if not. */
export type Admits = (plan: SubscriptionPlan) => GraphQLError | undefined;

/** One channel of the bus, and the groups that its messages are for. */
interface HubChannel {
  readonly name: string;
  readonly groups: Set<Group>;
  readonly offsets: ChannelOffsets;
}

/**
 * Brings the messages of the bus to the subscribers that asked for them. Subscribers with the same operation and
 * variables form a group; each message of a channel is dispatched to the groups that listen to it.
 */
export class Hub {
  readonly #options: HubOptions;
  readonly #services: GroupServices;
  readonly #groups = new Map<Operation, Map<string, Group>>();
  readonly #channels = new Map<string, HubChannel & { readonly subscription: Subscription }>();
  readonly #backlog: Backlog<HubChannel>;
  readonly #scopes: RecentScopes;
  /** See `variablesSize`; of all groups. */
  #variables = 0;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#services = { ...options, late: new FairLimiter(Infinity, options.now) };
    this.#scopes = new RecentScopes(options.contexts);
    const { budget, bus, graph, metrics, log, gapPolicy } = options;
    this.#backlog = new Backlog(
      (channel, payload) => this.#take(channel, payload),
      budget,
      bus,
      metrics.backlog,
    );
    const topics = [...graph.bindings.values()].map(({ topic }) => topic);
    const gaps = new Gaps(gapPolicy, topics, metrics, log);
    // Messages that wait came before the gap.
    bus.onGap((topic) => this.#backlog.afterWaiting(() => gaps.tell(topic, this.#groupsOf(topic))));
  }

  /**
   * Adds a subscriber. It gets the events that are dispatched from now on.
   *
   * @param admits asked when it is known what the subscriber asks for
   * @returns the group it is in, to leave by; or errors, if the variables or arguments can't be used, its viewer may not
   *   hold the subscription, or a cap is reached
   */
  join(
    operation: Operation,
    variables: Readonly<Record<string, unknown>>,
    subscriber: Subscriber,
    admits?: Admits,
  ): Group | readonly GraphQLError[] {
    const key = variablesKey(operation.variableNames, variables);
    const known = this.#groups.get(operation)?.get(key);
    const plan = known?.plan ?? planSubscription(operation, key, variables, this.#options);
    if (!('operation' in plan)) return plan;
    const refusal = plan.refusal?.(subscriber.viewer) ?? admits?.(plan);
    if (refusal !== undefined) return [refusal];
    if (known !== undefined) {
      known.add(subscriber);
      return known;
    }
    const noRoom = this.#noRoomFor(plan);
    if (noRoom !== undefined) return [noRoom];
    const group = new Group(plan, this.#services);
    group.add(subscriber);
    this.#open(group);
    return group;
  }

  /** Does nothing for a subscriber that has left already. */
  leave(group: Group, subscriber: Subscriber): void {
    if (group.remove(subscriber) && group.size === 0) this.#close(group);
  }

  /** Counts of all groups and channels, and the largest of them, up to `limit` of each. */
  inspect(limit: number): HubInspection {
    const { limiter, late } = this.#services;
    return inspect(this.#allGroups(), this.#channels, limiter, late, limit);
  }

  #allGroups(): Group[] {
    return [...this.#groups.values()].flatMap((byVariables) => [...byVariables.values()]);
  }

  #noRoomFor(plan: SubscriptionPlan): GraphQLError | undefined {
    const { bus, metrics, maxVariables = Infinity } = this.#options;
    const held = {
      room: bus.room ?? Infinity,
      isHeld: (channel: string) => this.#channels.has(channel),
      variables: this.#variables,
      maxVariables,
    };
    return groupRefusal(plan, held, metrics);
  }

  #groupsOf(topic: string): Group[] {
    return this.#allGroups().filter(({ plan }) => plan.topic === topic);
  }

  #open(group: Group): void {
    const { operation, key, topic, channels } = group.plan;
    const groups = this.#groups.get(operation) ?? new Map<string, Group>();
    this.#groups.set(operation, groups.set(key, group));
    this.#variables += variablesSize(key);
    this.#options.metrics.groups.inc();
    const joining = channels.map((name) => {
      const channel = this.#channels.get(name) ?? this.#listen(topic, name);
      channel.groups.add(group);
      return channel.subscription.ready;
    });
    void Promise.all(joining).then(
      () => this.#isOpen(group) && group.markSubscribed(),
      (error: unknown) => this.#fail(group, error),
    );
  }

  #close(group: Group): void {
    if (!this.#isOpen(group)) return;
    const { operation, key, channels } = group.plan;
    const groups = this.#groups.get(operation);
    groups?.delete(key);
    this.#variables -= variablesSize(key);
    if (groups?.size === 0) this.#groups.delete(operation);
    this.#options.metrics.groups.dec();
    for (const name of channels) {
      const channel = this.#channels.get(name);
      if (channel?.groups.delete(group) !== true || channel.groups.size > 0) continue;
      this.#channels.delete(name);
      channel.subscription.leave();
    }
  }

  #isOpen({ plan }: Group): boolean {
    return this.#groups.get(plan.operation)?.get(plan.key)?.plan === plan;
  }

  /** The bus has refused a channel: the subscribers get an error, rather than wait for events that never come. */
  #fail(group: Group, cause: unknown): void {
    if (!this.#isOpen(group)) return;
    this.#options.log.error({ err: cause, channels: group.plan.channels }, 'a channel could not be joined');
    this.#close(group);
    group.end([
      new GraphQLError('The event source could not be joined.', { extensions: { code: 'BUS_UNAVAILABLE' } }),
    ]);
  }

  #listen(topic: string, name: string): HubChannel & { readonly subscription: Subscription } {
    const listening: HubChannel = { name, groups: new Set<Group>(), offsets: new ChannelOffsets() };
    const subscription = this.#options.bus.subscribe(topic, name, (payload) =>
      this.#backlog.add(listening, payload),
    );
    const channel = { ...listening, subscription };
    this.#channels.set(name, channel);
    return channel;
  }

  /** A channel may have been closed while its messages waited in the backlog: then it has no groups. */
  #take(channel: HubChannel, payload: Buffer | string): void {
    const { budget } = this.#options;
    budget.spend(UNITS.message);
    if (channel.groups.size === 0) return;
    budget.spend(payload.length * UNITS.byte);
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
    const position = offsets.see(message);
    if (position === 'seen') {
      metrics.duplicates.inc();
      return;
    }
    if (position === 'restarted') {
      const { t: topic, p: partition, o: offset } = message;
      log.warn({ channel: name, topic, partition, offset }, 'offsets begin again: the topic was made anew');
    }
    if (graph.hasResolvers) deepFreeze(message.event);
    const scope = this.#scopes.of(message);
    for (const group of groups) {
      try {
        group.dispatch(message, scope);
      } catch (error) {
        log.error({ err: error, channel: name }, 'a group failed on an event');
      }
    }
  }
}
