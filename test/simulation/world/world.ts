import type { Defect } from '../defects/defect.ts';
import type { Plan, PlannedClient, PlannedSubscription } from '../faults/plan.ts';
import { SimulatedKafka } from '../kafka/cluster.ts';
import { StartPositions } from '../../../src/ingest/kafka/start-positions.ts';
import { SimulatedDriver } from '../kafka/driver.ts';
import type { ClientOptions } from '../kafka/member.ts';
import type { Starts } from '../kafka/starting.ts';
import { Random } from '../../helpers/random.ts';
import { SimulatedCluster } from '../redis/cluster.ts';
import { Network } from '../redis/network.ts';
import type { SimulatedRedis } from '../redis/server.ts';
import type { Owner, VirtualTime } from '../time/virtual-time.ts';
import { SimulatedClient } from './client.ts';
import type { SimulatedGraph } from './graph.ts';
import { Ledger, type LedgerEvent } from './ledger.ts';
import { SimulatedPod } from './pod.ts';
import { RedisPair } from './redis-pair.ts';
import { clusterRedis, singleRedis, type PodRedis } from './pod-redis.ts';
import { Repairs } from './repairs.ts';
import { SimulatedSubscriber } from './subscriber.ts';
import { Trace } from './trace.ts';

interface WorldOptions {
  readonly plan: Plan;
  readonly time: VirtualTime;
  readonly shared: SimulatedGraph;
  readonly isTraced: boolean;
  readonly defect: Defect;
}

interface ProduceOptions {
  readonly malformed?: boolean;
  readonly isProbe?: boolean;
  /** Default: the partition of the channel. */
  readonly partition?: number;
}

/** The parts of one environment that its pods use, besides Kafka. */
interface Environment extends Pick<ClientOptions, 'received' | 'onDescribed'> {
  readonly redis: PodRedis;
  readonly ledger: Ledger;
  readonly isOlder: boolean;
}

export const GROUP = 'sluice';

/** Kafka, Redis and the pods between them, in one process. */
export class World {
  readonly time: VirtualTime;
  readonly kafka: SimulatedKafka;
  /** One pair, or the pairs of a cluster. */
  readonly pairs: readonly RedisPair[];
  readonly cluster: SimulatedCluster | undefined;
  readonly network: Network;
  readonly repairs: Repairs;
  readonly ledger = new Ledger();
  readonly trace: Trace;
  readonly pods: SimulatedPod[] = [];
  readonly subscribers: SimulatedSubscriber[] = [];
  readonly clients: SimulatedClient[] = [];
  /** Missing topics, with functions that make them anew at the end. */
  readonly gone = new Map<string, () => void>();
  readonly plan: Plan;
  readonly #options: WorldOptions;
  #strangers = 0;

  constructor(options: WorldOptions) {
    const { plan, time, isTraced } = options;
    this.#options = options;
    this.plan = plan;
    this.time = time;
    this.repairs = new Repairs(time);
    this.trace = new Trace(time, isTraced);
    this.kafka = new SimulatedKafka(time);
    const isCluster = plan.topology === 'cluster' && Object.keys(options.defect).length === 0;
    this.pairs = (isCluster ? [0, 1] : [0]).map((number) => new RedisPair(time, this.repairs, number));
    this.cluster = isCluster
      ? new SimulatedCluster(this.pairs, time, Random.of(plan.seed, 'cluster'), this.repairs)
      : undefined;
    this.network = new Network({
      time,
      random: Random.of(plan.seed, 'network'),
      target: () => this.pairOf('').master,
    });
    for (const topic of ['news', 'bids'] as const) this.kafka.create(topic, plan.partitions[topic]);
  }

  /** The pair that serves all keys of the topic. */
  pairOf(topic: string): RedisPair {
    const pair = this.cluster?.pairOf(topic) ?? this.pairs[0];
    if (pair === undefined) throw new Error('expected a Redis');
    return pair;
  }

  get servers(): readonly SimulatedRedis[] {
    return this.pairs.flatMap(({ servers }) => servers);
  }

  get livePods(): readonly SimulatedPod[] {
    return this.pods.filter(({ isLive }) => isLive);
  }

  /** @param isOlder whether the pod is of a version without histories */
  startPod({ isOlder = false } = {}): SimulatedPod {
    const { defect } = this.#options;
    const owner: Owner = { name: `pod${this.pods.length + 1}`, state: 'running' };
    const redis = this.cluster
      ? clusterRedis(this.network, owner, this.cluster)
      : singleRedis(this.network, owner, defect);
    const pod = this.#start(owner, { redis, ledger: this.ledger, isOlder, received: defect.received });
    this.pods.push(pod);
    return pod;
  }

  /** A pod of another environment, which has its own Redis and none of the clients. */
  startStranger(): SimulatedPod {
    const { time, ledger, plan } = this;
    this.#strangers += 1;
    const owner: Owner = { name: `stranger${this.#strangers}`, state: 'running' };
    const pair = new RedisPair(time, this.repairs, this.pairs.length + this.#strangers);
    const random = Random.of(plan.seed, `${owner.name} network`);
    const network = new Network({ time, random, target: () => pair.master });
    let foundNobody = false;
    return this.#start(owner, {
      redis: singleRedis(network, owner, {}),
      ledger: new Ledger(),
      isOlder: false,
      onDescribed: ({ hasMembers }) => (foundNobody ||= !hasMembers),
      received: (record) => {
        if (foundNobody) ledger.takenAway.add(numberIn(record.value));
        return record;
      },
    });
  }

  #start(owner: Owner, { redis, ledger, isOlder, received, onDescribed }: Environment): SimulatedPod {
    const { plan, shared, defect } = this.#options;
    const random = (use: string): Random => Random.of(plan.seed, `${owner.name} ${use}`);
    const driver = new SimulatedDriver(this.kafka, owner, random('kafka'), {
      starts: this.#watched(owner, defect.starts?.()),
      namesEpochs: plan.namesEpochs,
      received,
      onDescribed,
    });
    const pod = new SimulatedPod({
      owner,
      time: this.time,
      random: random('clock'),
      shared,
      redis,
      driver: defect.driver?.(driver) ?? driver,
      sessionSeconds: plan.sessionSeconds,
      readsAgain: plan.readsAgain,
      countsSubscribers: plan.countsSubscribers,
      histories: new Map(isOlder ? [] : Object.entries(plan.histories)),
      defect,
      ledger,
      trace: this.trace,
    });
    this.time.after(0, owner, () => pod.start());
    return pod;
  }

  /** Records which pod has looked at which topics. */
  #watched({ name }: Owner, starts: Starts = new StartPositions()): Starts {
    return {
      decide: (seen) => {
        const { topic, topicId } = seen;
        this.ledger.looks.push({ pod: name, topic, topicId, at: this.time.now });
        return starts.decide(seen);
      },
    };
  }

  /** Connects a client, which keeps connecting again. */
  connect(asked: PlannedClient): void {
    const { time, plan } = this;
    const name = `resumer${this.clients.length + 1}`;
    const client = new SimulatedClient({
      name,
      asked,
      takesMs: asked.takesMs,
      time,
      random: Random.of(plan.seed, name),
      pods: () => this.livePods.filter(({ isOpen }) => isOpen),
      trace: (text) => this.trace.add(name, text),
    });
    this.clients.push(client);
    client.connect();
  }

  subscribe(asked: PlannedSubscription): SimulatedSubscriber | undefined {
    const { livePods } = this;
    const host = livePods[asked.pod % livePods.length];
    if (host === undefined) return undefined;
    const name = `client${this.subscribers.length + 1}`;
    const subscriber = new SimulatedSubscriber({
      name,
      asked,
      wantsGaps: this.subscribers.length % 2 === 0,
      pod: host.name,
      now: () => this.time.now,
      onDelivery: (number) => this.trace.add(host.name, () => `delivers ${number} to ${name}`),
    });
    this.subscribers.push(subscriber);
    this.time.after(0, host.owner, () => {
      if (host.isLive) host.join(subscriber);
    });
    return subscriber;
  }

  unsubscribe(subscriber: SimulatedSubscriber): void {
    const host = this.pods.find(({ name }) => name === subscriber.pod);
    if (host?.isLive === true) this.time.after(0, host.owner, () => host.leave(subscriber));
  }

  /** Produces an event, unless the topic is missing at present. */
  produce(
    topic: LedgerEvent['topic'],
    channel: string,
    { malformed = false, isProbe = false, partition }: ProduceOptions = {},
  ): void {
    if (!this.kafka.has(topic)) return;
    partition ??= this.partitionOf(topic, channel);
    const number = this.ledger.events.length + 1;
    const value = malformed ? 'no JSON' : JSON.stringify({ channel, number });
    const offset = this.kafka.produce(topic, partition, {
      key: Buffer.from(channel),
      value: Buffer.from(value),
    });
    const { id: topicId, leaderEpoch } = this.kafka.topic(topic);
    const position = { topicId, partition, offset, leaderEpoch };
    this.ledger.events.push({ number, topic, ...position, channel, at: this.time.now, malformed, isProbe });
    this.trace.add(
      'kafka',
      () => `${number} is produced: ${topicId}/${partition}/${offset}.${leaderEpoch}, channel ${channel}`,
    );
  }

  /** Produces a tombstone for the key of the channel. */
  remove(topic: LedgerEvent['topic'], channel: string): void {
    if (!this.kafka.has(topic)) return;
    const partition = this.partitionOf(topic, channel);
    const offset = this.kafka.produce(topic, partition, { key: Buffer.from(channel), value: null });
    const { id: topicId, leaderEpoch } = this.kafka.topic(topic);
    const position = { topicId, partition, offset, leaderEpoch };
    this.ledger.tombstones.push({ topic, ...position, channel, acknowledgedAt: undefined });
    this.trace.add('kafka', () => `${channel} is deleted: ${topicId}/${partition}/${offset}.${leaderEpoch}`);
  }

  partitionOf(topic: LedgerEvent['topic'], channel: string): number {
    return channel.charCodeAt(0) % this.kafka.topic(topic).partitions.length;
  }

  /** Whether the group has consumed all records. */
  get isConsumed(): boolean {
    const group = this.kafka.group(GROUP);
    return this.kafka.partitionsOf(['news', 'bids']).every((at) => {
      const end = this.kafka.topic(at.topic).partitions[at.partition]?.length ?? 0;
      return (group.committed(at)?.offset ?? 0) === end;
    });
  }
}

function numberIn(value: Buffer | null): number {
  return Number(/"number":(\d+)/.exec(String(value))?.[1] ?? 0);
}
