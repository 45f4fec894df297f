import type { ExecutionResult, GraphQLError } from 'graphql';
import { isUint8Array } from 'node:util/types';
import { createBudget } from '../gateway/create-budget.ts';
import { historiesOf } from '../gateway/create-bus.ts';
import { GraphMaker } from '../gateway/running-graph.ts';
import type { Headers } from '../events/event.ts';
import { loadConfig } from '../config/config.ts';
import { MemoryBus } from '../bus/memory-bus.ts';
import { Contexts } from '../context/event-scope.ts';
import { Queries } from '../context/queries.ts';
import { PendingQuery } from '../context/pending-query.ts';
import type { Operation } from '../executor/operation.ts';
import type { OperationAdmission } from '../executor/operation-admission.ts';
import type { Topic } from '../graph/graph.ts';
import { topicNamed } from '../graph/topics.ts';
import { loadGraph, type LoadedGraph } from '../graph/loader/load-graph.ts';
import { Hub } from '../hub/hub.ts';
import { LocalSource } from '../ingest/local-source.ts';
import type { RawHeaders } from '../ingest/record.ts';
import { frozenJson } from '../lazy/plain-json.ts';
import type { Json } from '../lazy/reads.ts';
import { createLog } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { PressureLevel } from '../pressure/pressure-level.ts';
import { BoundedLabels } from '../support/bounded-labels.ts';
import { Flusher } from '../transports/delivery/flusher.ts';
import { fakeBackends } from './fake-backends.ts';
import type { JsonParse } from './json-parse.ts';
import {
  ASK_OPTIONS,
  demandKnown,
  PUBLISH_OPTIONS,
  TEST_GATEWAY_OPTIONS,
  type AskOptions,
  type PublishOptions,
  type TestGatewayOptions,
} from './options.ts';
import { VirtualClock } from './virtual-clock.ts';
import { TestSubscription } from './subscription.ts';

type Variables = Readonly<Record<string, unknown>>;

/** Keeps the real `setImmediate`, since a test may install fake timers. */
const nextTurn = (
  (schedule) => () =>
    new Promise<void>((resolve) => void schedule(resolve))
)(setImmediate);

/** A subscription or a query is refused; the message joins the messages of all errors. */
export class OperationRefused extends Error {
  override readonly name = 'OperationRefused';
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super(errors.map(({ message }) => message).join('\n'));
    this.errors = errors;
  }
}

/**
 * A context of `node:vm` that a runner has made for one test file. It has an Object, an Array and an Error of its own, and
 * no module hooks: the gateway and the graph are loaded outside of it.
 */
export interface Sandbox {
  /** JSON.parse of the context: its results equal the literals of the test. */
  readonly parse: JsonParse;
}

/** The graphs of the sandboxes: a graph is loaded anew for each test file, as all other modules of a test are. */
const graphs = new WeakMap<Sandbox, Map<string, Promise<LoadedGraph>>>();

function graphFor(folder: string, sandbox: Sandbox | undefined): Promise<LoadedGraph> {
  if (sandbox === undefined) return loadGraph(folder);
  const loaded = graphs.get(sandbox) ?? new Map<string, Promise<LoadedGraph>>();
  graphs.set(sandbox, loaded);
  const graph = loaded.get(folder) ?? loadGraph(folder, { anew: true });
  loaded.set(folder, graph);
  return graph;
}

/** @param sandbox the test's context; by default the test runs in the context that Node.js begins with */
export async function startTestGateway(
  folder: string,
  options: TestGatewayOptions,
  sandbox?: Sandbox,
): Promise<TestGateway> {
  demandKnown('options of testGateway', TEST_GATEWAY_OPTIONS, options);
  const graph = await graphFor(folder, sandbox);
  const parse = sandbox?.parse ?? JSON.parse;
  const config = loadConfig({ MASK_ERRORS: 'false', ...options.settings });
  const [metrics, log] = [new Metrics(), createLog('silent')];
  const { viewer = {} } = options;
  const clock = new VirtualClock(options.now ?? Date.now());
  const { now } = clock;
  const [pressure, budget] = [new PressureLevel(), createBudget(metrics)];
  const maker = new GraphMaker({ config, processes: 1, pressure, budget, metrics, log });
  const { definition } = graph;
  // The graph's own back ends would have connections.
  const { executor, admission } = maker.make({ ...graph, definition: { ...definition, backends: {} } });
  const backends = fakeBackends(definition.backends ?? {}, options.backends ?? {}, parse);
  const contexts = new Contexts(definition, { bind: () => backends }, now, graph);
  const prefix = '';
  const bus = new MemoryBus({ lingerMs: 0, histories: historiesOf(graph), now, metrics, log });
  const hub = new Hub({
    ...maker.bounds,
    graph,
    executor,
    contexts,
    bus,
    budget: new Flusher(now, () => undefined),
    bytes: budget,
    timers: clock,
    paths: new BoundedLabels(),
    log,
    channelPrefix: prefix,
    maxChannels: config.MAX_CHANNELS,
    maxWaiting: config.MAX_WAITING_EVENTS,
    gapPolicy: config.ON_GAP,
  });
  const maxFanoutBytes = config.MAX_EVENT_FANOUT_BYTES;
  const source = new LocalSource({
    topics: graph.topics,
    prefix,
    publisher: bus,
    maxFanoutBytes,
    metrics,
    log,
    now,
  });
  const queries = new Queries({ ...maker.bounds, executor, contexts });
  return new TestGateway({
    parse,
    viewer: frozen(viewer),
    topics: graph.topics,
    admission,
    hub,
    source,
    queries,
    bus,
    clock,
    metrics,
  });
}

/** An operation that may be executed, with its variables and its viewer. */
interface Prepared {
  readonly operation: Operation;
  readonly sent: Variables;
  readonly asking: Json;
}

interface Parts {
  readonly parse: JsonParse;
  readonly viewer: Json;
  readonly topics: ReadonlyMap<string, Topic>;
  readonly admission: OperationAdmission;
  readonly hub: Hub;
  readonly source: LocalSource;
  readonly queries: Queries;
  readonly bus: MemoryBus;
  readonly clock: VirtualClock;
  readonly metrics: Metrics;
}

export class TestGateway {
  readonly #parts: Parts;
  /** For each subscription, whether it still waits for the events that `replay` begins with. */
  readonly #open = new Map<{ return(): Promise<unknown> }, () => boolean>();

  /** @internal */
  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Subscribes: events that are published from now on come.
   *
   * @throws OperationRefused
   * @throws TypeError for a variable that the operation does not declare, or an unknown option
   */
  subscribe<Data = Record<string, unknown>>(
    query: string,
    variables: Variables = {},
    options: AskOptions = {},
  ): TestSubscription<Data> {
    const { hub, parse } = this.#parts;
    const { operation, sent, asking } = this.#prepared(query, variables, options);
    if (operation.kind !== 'subscription')
      throw new TypeError(`expected a subscription, got a ${operation.kind}`);
    let isBeginning: (() => boolean) | undefined;
    const subscription = new TestSubscription<Data>(asking, parse, (subscriber) => {
      const group = hub.join(operation, sent, subscriber);
      if (!('isResuming' in group)) throw new OperationRefused(group);
      isBeginning = () => group.isResuming(subscriber);
      return () => hub.leave(group, subscriber);
    });
    this.#open.set(subscription, () => isBeginning?.() === true);
    return subscription;
  }

  /**
   * Executes a query or a mutation.
   *
   * @throws OperationRefused
   * @throws TypeError for a variable that the operation does not declare, or an unknown option
   */
  async query<Data = Record<string, unknown>>(
    query: string,
    variables: Variables = {},
    options: AskOptions = {},
  ): Promise<ExecutionResult<Data>> {
    const { operation, sent, asking } = this.#prepared(query, variables, options);
    if (operation.kind === 'subscription')
      throw new TypeError('expected a query or a mutation, got a subscription');
    const { queries, parse } = this.#parts;
    const outcome = queries.execute({ operation, variables: sent, viewer: asking, owner: this });
    const result = outcome instanceof PendingQuery ? await outcome.result() : outcome;
    return parse(JSON.stringify(result)) as ExecutionResult<Data>;
  }

  /**
   * Publishes an event. Resolves when all subscriptions have got their results.
   *
   * @param topic a topic that a field of the graph shows
   * @param event the message's value: bytes as they are, all else as JSON
   * @throws DecodeError
   */
  async publish(topic: string, event: unknown, options: PublishOptions = {}): Promise<void> {
    demandKnown('options of publish', PUBLISH_OPTIONS, options);
    const { topics, source } = this.#parts;
    if (topicNamed(topics, topic) === undefined) {
      throw new TypeError(`expected one of the topics ${[...topics.keys()].join(', ')}, got ${topic}`);
    }
    await this.#untilIdle();
    const value = isUint8Array(event) ? Buffer.from(event) : Buffer.from(JSON.stringify(event));
    const { key, headers = {}, timestamp } = options;
    await source.accept(topic, value, key, { headers: rawHeaders(headers), timestamp });
    await this.#untilIdle();
  }

  /**
   * Lets time go on: for `ctx.now`, the times of events, intervals of `@delivery` and what `history` keeps. Resolves when
   * all subscriptions have got the results of intervals that have ended.
   *
   * @param ms how long
   */
  async advance(ms: number): Promise<void> {
    const settled = (): Promise<void> => this.#untilIdle();
    await settled();
    await this.#parts.clock.advance(ms, settled);
  }

  /** Ends all subscriptions. */
  async close(): Promise<void> {
    for (const subscription of this.#open.keys()) await subscription.return();
    await this.#parts.bus.stop();
  }

  #prepared(query: string, variables: Variables, options: AskOptions): Prepared {
    demandKnown('options of an operation', ASK_OPTIONS, options);
    const { viewer } = options;
    const asking = viewer === undefined ? this.#parts.viewer : frozen(viewer);
    const sent = asSent(variables);
    const operation = this.#parts.admission.prepare({ query, variables: sent }, asking);
    if (!('document' in operation)) throw new OperationRefused(operation);
    // The gateway ignores undeclared variables: options given in their place, such as a viewer, would have no effect.
    demandKnown('variables that the operation declares', operation.variableNames, variables);
    return { operation, sent, asking };
  }

  /** Resolves when channels are joined, replays have begun, messages are taken and events are executed. */
  async #untilIdle(): Promise<void> {
    do await nextTurn();
    while (!(await this.#isIdle()));
  }

  async #isIdle(): Promise<boolean> {
    const { hub, metrics } = this.#parts;
    const { groups, executions } = hub.inspector.inspect(Infinity);
    const { running, waiting, late } = executions;
    const backlog = (await metrics.backlog.get()).values.reduce((sum, { value }) => sum + value, 0);
    const isJoined = groups.largest.every(({ live }) => live);
    if ([...this.#open.values()].some((isBeginning) => isBeginning())) return false;
    return isJoined && groups.waiting + running + waiting + late + backlog === 0;
  }
}

function frozen(viewer: object): Json {
  return frozenJson(viewer, 'viewer');
}

/** The variables as a client sends them. */
function asSent(variables: Variables): Variables {
  return JSON.parse(JSON.stringify(variables)) as Variables;
}

function rawHeaders(headers: Headers): RawHeaders {
  const entries = Object.entries(headers);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
}
