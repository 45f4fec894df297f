import { GraphQLError } from 'graphql';
import { NoHistory } from '../bus/history.ts';
import { MessageDecoder, type Message } from '../events/message.ts';
import type { Operation } from '../executor/operation.ts';
import { ClientShares } from '../support/client-shares.ts';
import { loggedIds } from '../tracing/traceparent.ts';
import { Backlog } from './backlog.ts';
import { variablesKey } from './group-key.ts';
import { Gaps } from './gaps.ts';
import { Group } from './group.ts';
import type { GroupServices } from './group-services.ts';
import type { HubChannel } from './hub-channel.ts';
import { defaultBytes } from './hub-bytes.ts';
import { HubChannels } from './hub-channels.ts';
import type { HubGraph, HubOptions, JoinOptions } from './hub-options.ts';
import { HubInspector } from './hub-inspector.ts';
import { HeldDocuments } from './held-documents.ts';
import { groupRefusal, variablesSize } from './join-refusal.ts';
import { lastingServices, type LastingServices } from './lasting-services.ts';
import { RecentScopes } from './recent-scopes.ts';
import { replaceGroups, type Replaced } from './replace-groups.ts';
import { Resumes } from './resume/resumes.ts';
import type { Subscriber } from './subscriber.ts';
import { planSubscription, type SubscriptionPlan } from './subscription-plan.ts';
import { UNITS } from './work-budget.ts';

/**
 * Brings the messages of the bus to the subscribers that asked for them. Subscribers with the same operation and
 * variables form a group; each message of a channel is dispatched to the groups that listen to it.
 */
export class Hub {
  #options: HubOptions;
  readonly #lasting: LastingServices;
  #services: GroupServices;
  readonly #groups = new Map<Operation, Map<string, Group>>();
  readonly #channels: HubChannels;
  readonly #backlog: Backlog<HubChannel>;
  #scopes: RecentScopes;
  readonly #decoder = new MessageDecoder();
  readonly #resumes: Resumes;
  readonly #gaps: Gaps;
  #variables = 0; // `variablesSize` of all groups.
  readonly #variableShares = new ClientShares();
  readonly #documents: HeldDocuments;
  readonly inspector: HubInspector;

  constructor(options: HubOptions) {
    this.#options = options;
    const { budget, bus, graph, metrics, log, gapPolicy, now = () => performance.now() } = options;
    const { bytes = defaultBytes(), lingerMs = 0, maxKept = Infinity } = options;
    this.#documents = new HeldDocuments(options.maxDocuments);
    this.#lasting = lastingServices(options, bytes);
    this.#services = { ...options, ...this.#lasting };
    this.#scopes = new RecentScopes(options.contexts);
    this.#backlog = new Backlog(
      {
        take: (channel, payload) => this.#take(channel, payload),
        goOn: () => this.#lasting.inHand.goOn(),
        finish: () => this.#lasting.inHand.finish(),
      },
      budget,
      bus,
      bytes.backlog,
      metrics.backlog,
    );
    // Not all options: they would keep the hub's first graph in memory.
    this.#channels = new HubChannels({
      bus,
      lingerMs,
      maxKept,
      now,
      carries: (channel, payload) => this.#backlog.add(channel, payload),
      historyOf: (topic) => this.#options.graph.streams.get(topic)?.history,
    });
    const limiters = { limiter: options.limiter, late: this.#lasting.late };
    this.inspector = new HubInspector(this.#groups, this.#channels.byName, limiters);
    const topics = [...graph.bindings.values()].map(({ topic }) => topic);
    this.#gaps = new Gaps(gapPolicy, topics, metrics, log);
    // Messages that wait now came before the gap.
    bus.onGap((topic) => this.#backlog.afterWaiting(() => this.#tellGap(topic)));
    this.#resumes = new Resumes({
      room: bytes.history,
      position: (topic) => bus.position?.(topic),
      readHistory: async (topic, ...read) => {
        if (bus.readHistory === undefined) throw new NoHistory(topic, 'the bus keeps none');
        return bus.readHistory(topic, ...read);
      },
      deletions: async (topic, ...asked) => {
        if (bus.deletions === undefined) throw new NoHistory(topic, 'the bus keeps none');
        return bus.deletions(topic, ...asked);
      },
      afterWaiting: (callback) => this.#backlog.afterWaiting(callback),
      decode: (payload) => this.#decode(payload),
      budget,
      scopeOf: (message) => this.#scopes.of(message),
      channelsOf: ({ plan }) => this.#channels.of(plan),
      tellGap: (topic, subscribers) => this.#gaps.tellThese(topic, subscribers),
      metrics,
      log,
    });
  }

  /**
   * Adds a subscriber. It gets the events that are dispatched from now on; if it resumes, also the events after its cursor.
   *
   * @returns its group, to be passed to `leave`; or errors, if the variables or arguments can't be used, its viewer may not
   *   hold the subscription, or a cap is reached
   */
  join(
    operation: Operation,
    variables: Readonly<Record<string, unknown>>,
    subscriber: Subscriber,
    { client, admits, refused, keeps, cursor }: JoinOptions = {},
  ): Group | readonly GraphQLError[] {
    const key = variablesKey(operation.variableNames, variables);
    const known = this.#groups.get(operation)?.get(key);
    const plan = known?.plan ?? planSubscription(operation, key, variables, this.#options);
    if (!('operation' in plan)) return plan;
    const unauthorised = plan.refusal?.(subscriber.viewer);
    if (unauthorised !== undefined) refused?.(plan, unauthorised);
    const refusal = unauthorised ?? admits?.(plan) ?? (known ? undefined : this.#noRoomFor(plan, client));
    if (refusal !== undefined) return [refusal];
    const group = known ?? new Group(plan, this.#services);
    const { inHand } = this.#lasting;
    if (known === undefined) inHand.passOver(group);
    else inHand.catchUp(group);
    const isResumed = cursor !== undefined || plan.replay > 0;
    if (!isResumed) group.add(subscriber);
    if (known === undefined) {
      const { kept, countsFor } = this.#channels.neededFor(plan);
      if (kept.length > 0) keeps?.(kept, countsFor);
      group.client = client;
      this.#open(group);
    }
    if (isResumed) this.#resumes.begin(group, subscriber, cursor, this.#channels.joined(plan));
    return group;
  }

  /** Does nothing for a subscriber that has left already. */
  leave(group: Group, subscriber: Subscriber): void {
    if (group.remove(subscriber) && group.size === 0) this.#close(group);
  }

  /** The plans of all groups. */
  get plans(): readonly SubscriptionPlan[] {
    return this.#allGroups().map(({ plan }) => plan);
  }

  /**
   * Replaces the graph, in this turn. Groups that have a plan for the new one go on with the next event, the others end.
   *
   * @param planFor the plan for a group, or the error that it ends with
   */
  replaceGraph(
    next: HubGraph,
    planFor: (plan: SubscriptionPlan) => SubscriptionPlan | GraphQLError,
  ): Replaced {
    const { graph, executor, contexts } = next;
    this.#backlog.finish();
    // Before anything changes: results may end connections, and so groups.
    for (const group of this.#allGroups()) group.flushAll();
    this.#options = { ...this.#options, graph, executor, contexts };
    this.#services = { ...this.#options, ...this.#lasting };
    this.#scopes = new RecentScopes(contexts);
    this.#gaps.know([...graph.bindings.values()].map(({ topic }) => topic));
    const groups = this.#allGroups();
    const close = (group: Group): void => this.#close(group);
    const { renewed, ...replaced } = replaceGroups(groups, planFor, this.#services, close);
    this.#groups.clear();
    this.#documents.clear();
    for (const group of renewed) if (group.size > 0) this.#register(group);
    this.#channels.renewed();
    return replaced;
  }

  /** Calls back once all messages that wait now have been taken: at once if there are none. */
  afterWaiting(callback: () => void): void {
    this.#backlog.afterWaiting(callback);
  }

  #allGroups(): Group[] {
    return [...this.#groups.values()].flatMap((byVariables) => [...byVariables.values()]);
  }

  #noRoomFor(plan: SubscriptionPlan, client: string | undefined): GraphQLError | undefined {
    const { metrics, maxVariables = Infinity } = this.#options;
    const [channels, documents, shares] = [this.#channels, this.#documents, this.#variableShares];
    const held = { channels, variables: this.#variables, maxVariables, shares, documents };
    return groupRefusal(plan, client, held, metrics);
  }

  #tellGap(topic: string): void {
    const groups = this.#allGroups().filter(({ plan }) => plan.topic === topic);
    for (const group of groups) {
      for (const { recording } of this.#channels.of(group.plan)) recording?.break();
    }
    this.#gaps.tell(topic, groups);
  }

  #open(group: Group): void {
    this.#register(group);
    this.#countVariables(group, 1);
    this.#options.metrics.groups.inc();
    this.#channels.add(group);
    void this.#channels.joined(group.plan).then(
      () => this.#isOpen(group) && group.markSubscribed(),
      (error: unknown) => this.#fail(group, error),
    );
  }

  #countVariables({ plan, client }: Group, times: 1 | -1): void {
    const change = times * variablesSize(plan.key);
    this.#variables += change;
    this.#variableShares.count(client, change);
  }

  #register(group: Group): void {
    const { operation, key } = group.plan;
    const groups = this.#groups.get(operation) ?? new Map<string, Group>();
    this.#documents.add(operation, group.client);
    this.#groups.set(operation, groups.set(key, group));
  }

  #close(group: Group): void {
    if (!this.#isOpen(group)) return;
    const { operation, key } = group.plan;
    const groups = this.#groups.get(operation);
    groups?.delete(key);
    this.#countVariables(group, -1);
    if (groups?.size === 0 && this.#groups.delete(operation)) this.#documents.delete(operation);
    this.#options.metrics.groups.dec();
    this.#channels.delete(group);
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

  /**
   * A channel may have been closed while its messages waited in the backlog: then it has no groups.
   *
   * @returns whether all groups have it
   */
  #take(channel: HubChannel, payload: Buffer | string): boolean {
    const { budget, metrics } = this.#options;
    metrics.messages.inc();
    budget.spend(UNITS.message);
    if (channel.groups.size === 0) return true;
    budget.spend(payload.length * UNITS.byte);
    try {
      return this.#receive(channel, payload);
    } catch (error) {
      this.#options.log.error({ err: error, channel: channel.name }, 'a message could not be taken');
      return true;
    }
  }

  #decode(payload: Buffer | string): Message | undefined {
    const { graph, metrics } = this.#options;
    const message = this.#decoder.decode(payload, graph.hasResolvers);
    if (message === undefined) metrics.skippedMessages.inc({ reason: 'unknown_version' });
    return message;
  }

  #receive({ name, groups, offsets, recording }: HubChannel, payload: Buffer | string): boolean {
    const { metrics, log, trace, tracing, arrivals } = this.#options;
    const message = this.#decode(payload);
    if (message === undefined) return true;
    const position = offsets.see(message);
    if (position === 'seen') {
      metrics.duplicates.inc();
      trace?.listener?.({ step: 'duplicate', message, channel: name });
      return true;
    }
    if (position === 'restarted') {
      const { t: topic, p: partition, o: offset } = message;
      log.warn(
        { channel: name, topic, partition, offset },
        'offsets begin again: the topic was made anew, or its log has lost its end',
      );
    }
    recording?.add(message, payload.length);
    arrivals?.add(message, name, payload);
    const scope = this.#scopes.of(message, tracing);
    const { inHand, work } = this.#lasting;
    // A listener, or a trace, also reports each group that the event is not for.
    const isLookedAt = trace?.listener !== undefined || scope.span !== undefined;
    const concerned = isLookedAt ? groups : groups.concernedBy(message.event);
    work.rejected(groups.size - concerned.size);
    return inHand.take(groups, concerned, (group) => {
      try {
        group.dispatch(message, scope, recording !== undefined, payload.length);
      } catch (error) {
        const line = { err: error, channel: name, ...loggedIds(message.traceparent) };
        log.error(line, 'a group failed on an event');
      }
    });
  }
}
