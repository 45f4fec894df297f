import assert from 'node:assert/strict';
import { buildSchema, parse, type ExecutionResult, type GraphQLError } from 'graphql';
import type { GapListener, Listener, Subscription } from '../../../src/bus/bus.ts';
import { Contexts } from '../../../src/context/event-scope.ts';
import type { Operation } from '../../../src/executor/operation.ts';
import type { GraphContext } from '../../../src/graph/api/context.ts';
import type { Arguments, Binding, EventFilter } from '../../../src/graph/graph.ts';
import { Group } from '../../../src/hub/group.ts';
import { Hub } from '../../../src/hub/hub.ts';
import type { HubGraph, HubOptions, JoinOptions } from '../../../src/hub/hub-options.ts';
import type { SerializedResult } from '../../../src/hub/result.ts';
import type { Subscriber } from '../../../src/hub/subscriber.ts';
import { ReadSet, type Json } from '../../../src/lazy/reads.ts';
import { createLog } from '../../../src/log.ts';
import { Metrics } from '../../../src/metrics.ts';
import { BoundedLabels } from '../../../src/support/bounded-labels.ts';
import { FairLimiter } from '../../../src/support/fair-limiter.ts';
import { Flusher } from '../../../src/transports/delivery/flusher.ts';
import { deferred } from '../../helpers/deferred.ts';
import { attachResolvers } from '../../../src/graph/loader/attach-resolvers.ts';
import { executorFor, prepared } from '../executor/small-executor.ts';

/** A bus whose joins are acknowledged, or refused, by the test. */
class FakeBus {
  readonly listeners = new Map<string, Listener>();
  readonly left: string[] = [];
  /** Reports a gap. */
  gap: GapListener = () => assert.fail('no hub listens for gaps');
  /** Channels that it may be subscribed to, each once in its life. */
  most = Infinity;
  readonly #joins = new Map<string, ReturnType<typeof deferred<void>>>();

  subscribe(_topic: string, channel: string, listener: Listener): Subscription {
    this.listeners.set(channel, listener);
    const join = deferred();
    this.#joins.set(channel, join);
    return { ready: join.promise, leave: () => void this.left.push(channel) };
  }

  get room(): number {
    return this.most - this.listeners.size + this.left.length;
  }

  async acknowledge(...channels: string[]): Promise<void> {
    for (const channel of channels) this.#joins.get(channel)?.resolve();
    await settled();
  }

  async refuse(channel: string): Promise<void> {
    this.#joins.get(channel)?.reject(new Error('refused on purpose'));
    await settled();
  }

  onGap(listener: GapListener): void {
    this.gap = listener;
  }

  pause(): void {}
  resume(): void {}

  carry(channel: string, o: number, event: object, rest: object = {}): void {
    const message = { v: 1, t: 'bids', id: 'bids-1', p: 0, o, ts: o, in: 0, key: null, event, ...rest };
    this.listeners.get(channel)?.(JSON.stringify(message));
  }
}

/** An `execute` whose results come when the test resolves them. */
export function heldExecutions() {
  const executions: ReturnType<typeof deferred<void>>[] = [];
  const execute = async (event: { n: number }): Promise<ExecutionResult> => {
    const execution = deferred();
    executions.push(execution);
    await execution.promise;
    return { data: event };
  };
  return { executions, execute };
}

export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class FakeSubscriber implements Subscriber {
  viewer: Json;
  owner: object = this;
  readonly wantsGaps: boolean;
  isBehind = false;
  readonly results: unknown[] = [];
  /** How often it was told to. */
  reconnections = 0;
  constructor(viewer: Json = {}, wantsGaps = false) {
    this.viewer = viewer;
    this.wantsGaps = wantsGaps;
  }
  ended: readonly GraphQLError[] | undefined;
  #joined: { readonly hub: Hub; readonly group: Group } | undefined;

  get group(): Group {
    return this.#joined?.group ?? assert.fail('it has not joined');
  }

  join(hub: Hub, asked: Operation, variables: Record<string, unknown> = {}): this {
    const group = hub.join(asked, variables, this);
    assert.ok(group instanceof Group);
    this.#joined = { hub, group };
    return this;
  }

  leave(): void {
    this.#joined?.hub.leave(this.group, this);
  }

  /** Its viewer is replaced, as by a new token. */
  become(viewer: Json): void {
    const previous = this.viewer;
    this.viewer = viewer;
    this.group.viewerChanged(this, previous);
  }

  /** `n` of each result; NaN if it has none. */
  get numbers(): number[] {
    return (this.results as { data?: { n: number } | null }[]).map(({ data }) => data?.n ?? NaN);
  }

  deliver(payload: SerializedResult): void {
    this.results.push(JSON.parse(payload.json.toString()));
  }
  reconnect(): void {
    this.reconnections += 1;
  }
  end(errors: readonly GraphQLError[]): void {
    this.ended = errors;
  }
}

export const binding: Binding = {
  field: 'bid',
  topic: 'bids',
  key: 'id',
  keyForm: (value) => value,
  filter: undefined,
  shares: true,
};

export function operation(variableNames: string[] = ['id']): Operation {
  const query = 'subscription { bid }';
  return {
    query,
    name: undefined,
    kind: 'subscription',
    document: parse(query),
    variableNames,
  } as unknown as Operation;
}

/** A filter that reads one value of viewers, or nothing of them. */
export function filterOn(
  read: string | undefined,
  passes: EventFilter['passes'],
  cost: EventFilter['cost'] = { comparisons: 1, scans: 0 },
): () => EventFilter {
  const reads = new ReadSet();
  if (read !== undefined) reads.add('value', [read]);
  return () => ({ reads, passes, cost });
}

/** Lets an event pass for viewers of the roles that it names, or for all if it names none. */
export const byRole = filterOn(
  'role',
  ({ roles }, viewer) => !Array.isArray(roles) || roles.includes((viewer as { readonly role: string }).role),
);

/** A graph in place of another one, for the groups that go on. */
export const nextGraph = (execute: HubGraph['executor']['execute']): HubGraph => ({
  graph: { bindings: new Map(), hasResolvers: false, streams: new Map() },
  contexts: contextsOf(),
  executor: {
    subscriptionField: () => assert.fail('no subscription begins'),
    execute,
    failure: () => assert.fail('no execution fails'),
    unserialisable: () => assert.fail('no result has no JSON'),
  },
});

/** Options of the hub, of its graph, and of what the test does not make whole itself. */
interface SetUp extends Partial<HubOptions>, Partial<HubOptions['graph']> {
  /** What the executor does. */
  readonly execute?: (
    event: never,
    variables: Arguments,
    context: GraphContext,
  ) => ExecutionResult | Promise<ExecutionResult>;
  /** The binding of the only field. */
  readonly binding?: Partial<Binding>;
  /** Places of the limiter. */
  readonly concurrency?: number;
}

export function setUp(options: SetUp = {}) {
  const bus = new FakeBus();
  return { bus, ...setUpOn(bus, options) };
}

/** The time does not matter, and nobody is told of delays. */
export const budgetOf = (): Flusher => new Flusher(Date.now, () => undefined);

/** Returns the contexts of a graph without code. */
export const contextsOf = (code: ConstructorParameters<typeof Contexts>[0] = {}): Contexts =>
  new Contexts(code, { bind: () => ({}) }, Date.now);

/** A hub whose one field says what `resolve` makes of an event, and the operation that asks for it. */
export function setUpSeen(resolve: unknown, { binding: more, ...options }: SetUp = {}, type = 'String') {
  const schema = buildSchema(
    `scalar Any type Query { a: Int } type Subscription { see: Seen } type Seen { said: ${type} }`,
  );
  attachResolvers(schema, { Subscription: { see: (event) => event }, Seen: { said: resolve as never } });
  const executor = executorFor(schema, { maskErrors: false });
  const asked = prepared(executor, 'subscription { see { said } }');
  return {
    schema,
    asked,
    ...setUp({ executor, binding: { field: 'see', key: undefined, ...more }, ...options }),
  };
}

/** A hub on a bus of the test's own. */
export function setUpOn(bus: HubOptions['bus'], given: SetUp = {}) {
  // Executions take no time, but what a test says: a busy machine would divide them among other turns.
  const {
    execute,
    binding: more,
    concurrency = 10,
    bindings,
    hasResolvers,
    streams,
    now = () => 0,
    ...rest
  } = given;
  const bound = { ...binding, ...more };
  const metrics = new Metrics();
  const hub = new Hub({
    graph: {
      bindings: bindings ?? new Map([[bound.field, bound]]),
      hasResolvers: hasResolvers ?? false,
      streams: streams ?? new Map(),
    },
    bus,
    executor: {
      subscriptionField: (_operation, variables) => ({ field: 'bid', args: variables }),
      execute: (_operation, event, context, variables) =>
        execute?.(event as never, variables, context as GraphContext) ?? ({ data: event } as ExecutionResult),
      failure: (_operation, thrown) => ({ errors: [thrown as GraphQLError], data: null }),
      unserialisable: (_operation, _field, thrown) => assert.fail(String(thrown)),
    },
    budget: budgetOf(),
    now,
    metrics,
    log: createLog('silent'),
    contexts: contextsOf(),
    limiter: new FairLimiter(concurrency, now),
    paths: new BoundedLabels(),
    timeoutMs: 60_000,
    maxWaiting: 10,
    channelPrefix: '',
    maxChannels: 3,
    gapPolicy: 'close',
    ...rest,
  });
  const value = async (
    name: 'groups' | 'subscribers' | 'executions' | 'deliveries' | 'duplicates' | 'groupOverflows',
  ) => (await metrics[name].get()).values[0]?.value ?? 0;
  const join = (asked: Operation, variables: Record<string, unknown> = {}, wantsGaps = false) => {
    const subscriber = new FakeSubscriber({}, wantsGaps).join(hub, asked, variables);
    return { subscriber, group: subscriber.group, leave: () => subscriber.leave() };
  };
  /** @returns how it leaves, or the code that it is refused with */
  const joinOrCode = (asked: Operation, id: string, options: JoinOptions = {}) => {
    const subscriber = new FakeSubscriber();
    const group = hub.join(asked, { id }, subscriber, options);
    return group instanceof Group ? () => hub.leave(group, subscriber) : group[0]?.extensions['code'];
  };
  return { hub, join, joinOrCode, value, metrics };
}

/** Lets so many turns of the event loop pass. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await settled();
}
