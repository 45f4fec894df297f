import type { Bus, Listener, Subscription } from '../../../src/bus/bus.ts';
import type { HistorySettings } from '../../../src/events/history-settings.ts';
import { PublishError, type Publication, type Publisher } from '../../../src/events/publisher.ts';
import type { Graph, Topic } from '../../../src/graph/graph.ts';
import { Hub } from '../../../src/hub/hub.ts';
import { Group } from '../../../src/hub/group.ts';
import { KafkaSource } from '../../../src/ingest/kafka/source.ts';
import { Metrics } from '../../../src/metrics.ts';
import { SOURCE_SETTINGS, roomForRecords } from '../../helpers/source-settings.ts';
import { BoundedLabels } from '../../../src/support/bounded-labels.ts';
import { FairLimiter } from '../../../src/support/fair-limiter.ts';
import type { KafkaDriver } from '../../../src/ingest/kafka/driver.ts';
import type { Random } from '../../helpers/random.ts';
import type { Defect } from '../defects/defect.ts';
import type { Receiver } from '../oracle/receiver.ts';
import { simulatedClock } from '../time/simulated-clock.ts';
import type { Owner, VirtualTime } from '../time/virtual-time.ts';
import type { ClientConnection } from './client-connection.ts';
import type { ClientPod, SimulatedClient } from './client.ts';
import type { SimulatedGraph } from './graph.ts';
import type { Ledger } from './ledger.ts';
import { KEEPALIVE_MS, LINGER_MS, LOOK_AGAIN_MS, NO_BUDGET, OF_BUS, PREFIX, TIMING } from './pod-settings.ts';
import type { RedisServers } from '../oracle/receiver.ts';
import type { PodRedis } from './pod-redis.ts';
import type { SimulatedSubscriber } from './subscriber.ts';
import type { Trace } from './trace.ts';

interface PodOptions {
  readonly owner: Owner;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly shared: SimulatedGraph;
  readonly redis: PodRedis;
  readonly driver: KafkaDriver;
  readonly sessionSeconds: number;
  /** Whether the pod reads missed events again from Kafka. */
  readonly readsAgain: boolean;
  readonly countsSubscribers: boolean;
  /** Histories by topic; empty for a pod of a version without histories. */
  readonly histories: ReadonlyMap<string, HistorySettings>;
  /** The pod's defect, put in on purpose. */
  readonly defect: Defect;
  readonly ledger: Ledger;
  readonly trace: Trace;
}

/** One pod: the gateway's own ingest, bus and hub, over simulated connections. */
export class SimulatedPod implements ClientPod {
  readonly owner: Owner;
  readonly redis: PodRedis;
  readonly subscribers: SimulatedSubscriber[] = [];
  readonly connections = new Set<ClientConnection>();
  /** When the pod was killed, or began to stop. */
  endedAt: number | undefined;
  isStopped = false;
  #isDeaf = false;
  readonly #options: PodOptions;
  readonly #bus: Bus;
  readonly #source: KafkaSource;
  readonly #hub: Hub;
  /** Promises of the bus, by channel, that resolve when the channel is joined. */
  readonly #joins = new Map<string, Promise<void>>();

  constructor(options: PodOptions) {
    this.#options = options;
    const { owner, time, random, shared, redis, driver, defect, trace } = options;
    this.owner = owner;
    this.redis = redis;
    const metrics = new Metrics();
    const log = trace.log(owner.name);
    const clock = simulatedClock(time, random);
    this.#bus = redis.createBus({
      prefix: PREFIX,
      lingerMs: LINGER_MS,
      countsSubscribers: options.countsSubscribers,
      histories: options.histories,
      metrics,
      log,
      clock,
      timing: OF_BUS,
    });
    this.#bus.onDeaf((isDeaf) => {
      trace.add(owner.name, () => (isDeaf ? 'is deaf' : 'hears again'));
      this.#isDeaf = isDeaf;
      if (isDeaf) for (const connection of this.connections) connection.reconnect();
    });
    const { topics, streams } = keeping(options.histories, shared.graph);
    this.#source = new KafkaSource({
      settings: {
        ...SOURCE_SETTINGS,
        KAFKA_SESSION_TIMEOUT_MS: options.sessionSeconds * 1_000,
        REDIS_PREFIX: PREFIX,
      },
      topics,
      publisher: this.#watched(defect.publisher?.(this.#bus, redis.connection) ?? this.#bus),
      metrics,
      log,
      records: roomForRecords(),
      broadcast: false,
      busId: (proposed) => this.#bus.id(proposed),
      clock,
      timing: { ...TIMING, sessionTimeoutMs: options.sessionSeconds * 1_000 },
      driver,
    });
    if (options.readsAgain) this.#bus.readMissedFrom(this.#source.consumption);
    const { graph, executor, contexts } = shared;
    this.#hub = new Hub({
      graph: { ...graph, streams },
      executor,
      contexts,
      bus: {
        subscribe: (topic, channel, listener) => this.#subscribe(topic, channel, listener),
        onGap: (listener) =>
          this.#bus.onGap((topic) => {
            trace.add(owner.name, () => `may have missed events of ${topic}`);
            listener(topic);
          }),
        pause: () => this.#bus.pause(),
        resume: () => this.#bus.resume(),
        position: (topic) => {
          const position = this.#bus.position(topic);
          return position && (defect.position?.(position) ?? position);
        },
        readHistory: async (...asked) => {
          const read = await this.#bus.readHistory(...asked);
          return defect.history?.(read) ?? read;
        },
        deletions: (...asked) => this.#bus.deletions(...asked),
      },
      budget: NO_BUDGET,
      limiter: new FairLimiter(100, () => time.now),
      paths: new BoundedLabels(),
      metrics,
      log,
      maxWaiting: 1_000,
      timeoutMs: 30_000,
      channelPrefix: PREFIX,
      maxChannels: 100,
      gapPolicy: 'close',
    });
  }

  get name(): string {
    return this.owner.name;
  }

  get servers(): RedisServers {
    const { listening, commands } = this.redis;
    return {
      listening: listening.map(({ server }) => server.name),
      commands: commands.map(({ server }) => server.name),
    };
  }

  get isLive(): boolean {
    return this.owner.state !== 'dead' && !this.isStopped;
  }

  /** Whether the pod takes connections. */
  get isOpen(): boolean {
    return this.isLive && !this.#isDeaf;
  }

  get isReady(): boolean {
    return this.#bus.notReady() === undefined && this.#source.notReady() === undefined;
  }

  start(): void {
    this.#bus.start();
    void this.#source.start();
  }

  /** Stops as at the end of a drain: clients have gone, and the pod completes its publications. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.endedAt = this.#options.time.now;
    for (const subscriber of this.subscribers) this.leave(subscriber);
    for (const connection of this.connections) connection.reconnect();
    await this.#source.stop();
    await this.#bus.stop();
  }

  join(subscriber: SimulatedSubscriber): void {
    const { operation, variables } = this.#asked(subscriber);
    const group = this.#hub.join(operation, variables, subscriber);
    if (!(group instanceof Group)) throw new AggregateError(group, 'a subscriber could not join');
    subscriber.group = group;
    this.subscribers.push(subscriber);
    const joins = group.plan.channels.map((name) => this.#joins.get(name));
    void Promise.all(joins).then(
      () => this.#noteJoined(subscriber, group),
      () => undefined, // The hub ends it.
    );
  }

  admit(connection: ClientConnection, client: SimulatedClient, cursor: unknown): void {
    if (!this.connections.has(connection)) return;
    if (this.isStopped || this.#isDeaf) {
      connection.reconnect();
      return;
    }
    const { operation, variables } = this.#asked(client);
    const group = this.#hub.join(operation, variables, connection, { cursor });
    if (!(group instanceof Group)) throw new AggregateError(group, 'a client could not join');
    connection.group = group;
    client.group = group;
  }

  dismiss(connection: ClientConnection): void {
    this.connections.delete(connection);
    if (connection.group !== undefined) this.#hub.leave(connection.group, connection);
  }

  leave(subscriber: SimulatedSubscriber): void {
    if (subscriber.endedAt !== undefined || subscriber.group === undefined) return;
    subscriber.endedAt = this.#options.time.now;
    this.#hub.leave(subscriber.group, subscriber);
  }

  /**
   * Ends the process at once.
   *
   * @param silently the machine goes, too, so that no server is told that its connections have ended
   */
  kill(silently: boolean): void {
    const { time } = this.#options;
    this.endedAt = time.now;
    this.owner.state = 'dead';
    for (const subscriber of this.subscribers) subscriber.endedAt ??= time.now;
    for (const connection of this.connections) connection.lose(silently ? KEEPALIVE_MS : 0);
    if (silently) return;
    for (const socket of [...this.redis.commands, ...this.redis.listening]) socket.close();
  }

  /** A subscriber that begins with the last events gets them first. */
  #noteJoined(subscriber: SimulatedSubscriber, group: Group): void {
    const { time } = this.#options;
    if (!group.isResuming(subscriber)) subscriber.joinedAt = time.now;
    else time.after(LOOK_AGAIN_MS, this.owner, () => this.#noteJoined(subscriber, group));
  }

  #asked({ asked: { field, topic, channels } }: Receiver) {
    const operation = this.#options.shared.operations.get(field);
    if (operation === undefined) throw new Error(`expected a query for ${field}`);
    const channel = topic === 'bids' ? channels : channels?.[0];
    return { operation, variables: channel === undefined ? {} : { channel } };
  }

  #subscribe(topic: string, channel: string, listener: Listener): Subscription {
    const { read = (payload) => payload.toString() } = this.#options.defect;
    const subscription = this.#bus.subscribe(topic, channel, (payload) => listener(read(payload)));
    this.#joins.set(channel, subscription.ready);
    return subscription;
  }

  /** Records the events that this pod publishes, and those that it passes over. */
  #watched(bus: Publisher): Publisher {
    const { ledger, time, trace } = this.#options;
    return {
      subscribed: async (topic, channels) => {
        const at = time.now;
        const subscribed = await bus.subscribed(topic, channels);
        for (const channel of channels) {
          if (!subscribed.has(channel)) ledger.passedOver.push({ pod: this.name, topic, channel, at });
        }
        return subscribed;
      },
      publish: async (topic, batch) => {
        const deletions = batch.filter(({ deletes }) => deletes !== undefined);
        const events = batch.filter(({ deletes }) => deletes === undefined);
        const attempts = events.map((publication) => {
          const servers = this.redis.serversOf(topic);
          const attempt = { pod: this.name, at: time.now, servers, endedAt: Infinity, acknowledged: false };
          const number = numberOf(publication);
          ledger.attempted(number, attempt);
          return { publication, number, attempt };
        });
        trace.add(this.name, () => `publishes ${attempts.map(({ number }) => number).join(' ')}`);
        let failed: ReadonlySet<Publication> = new Set();
        try {
          await bus.publish(topic, batch);
        } catch (thrown) {
          failed = new Set(thrown instanceof PublishError ? thrown.failed : batch);
          throw thrown;
        } finally {
          for (const deletion of deletions) {
            if (!failed.has(deletion)) ledger.acknowledged(deletion, time.now);
          }
          for (const { publication, attempt } of attempts) {
            attempt.acknowledged = !failed.has(publication);
            attempt.endedAt = time.now;
          }
        }
      },
    };
  }
}

/** Returns topics and streams of a graph, with these histories. */
function keeping(histories: ReadonlyMap<string, HistorySettings>, { topics }: Pick<Graph, 'topics'>) {
  const streams = new Map([...topics.keys()].map((name) => [name, { name, history: histories.get(name) }]));
  const streamed = [...topics].map(([name, topic]): [string, Topic] => [
    name,
    { ...topic, streams: [{ name, history: histories.get(name) }] },
  ]);
  return { topics: new Map(streamed), streams };
}

function numberOf({ payload }: Publication): number {
  return (JSON.parse(payload) as { readonly event: { readonly number: number } }).event.number;
}
