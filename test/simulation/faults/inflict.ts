import { readPositionText } from '../../../src/ingest/kafka/position-text.ts';
import type { SimulatedKafka } from '../kafka/cluster.ts';
import { LATENCY_MS } from '../redis/network.ts';
import { OUT_OF_MEMORY, type Refusal } from '../redis/server.ts';
import type { SimulatedClient } from '../world/client.ts';
import type { Ledger } from '../world/ledger.ts';
import type { RedisPair } from '../world/redis-pair.ts';
import { PREFIX } from '../world/pod-settings.ts';
import type { SimulatedPod } from '../world/pod.ts';
import { GROUP, type World } from '../world/world.ts';
import type { Fault, FaultKind, FaultOf } from './draw.ts';

/** Makes a fault happen now. Faults that last are repaired after their time. */
export function inflict(world: World, fault: Fault): void {
  const pod = 'pod' in fault ? world.livePods[fault.pod % world.livePods.length] : undefined;
  world.trace.add('fault', () => `${JSON.stringify(fault)}${pod === undefined ? '' : ` is ${pod.name}`}`);
  if ('pod' in fault && pod === undefined) return;
  if (OF_TOPICS.has(fault.kind) && 'topic' in fault && !world.kafka.has(fault.topic)) return;
  const redis = 'topic' in fault ? world.pairOf(fault.topic) : pairHit(world, fault);
  const happen = HAPPEN[fault.kind] as (fault: Fault, world: World, hit: Hit) => void;
  happen(fault, world, { redis, pod: pod as SimulatedPod });
}

/** Faults in Kafka, which need the topic to exist. */
const OF_TOPICS: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'more-partitions',
  'topic-made-anew',
  'topic-deleted',
  'leader-elected',
  'end-of-log-lost',
]);

/** The target of a fault; `pod` is set only for faults of a pod. */
interface Hit {
  readonly redis: RedisPair;
  readonly pod: SimulatedPod;
}

const HAPPEN: {
  readonly [Kind in FaultKind]: (fault: FaultOf<Kind>, world: World, hit: Hit) => void;
} = {
  'redis-crash': ({ forMs, keepsData, silent }, { ledger, time, cluster }, { redis }) => {
    ledger.losses.push({ at: time.now });
    redis.crash(forMs, keepsData, silent);
    cluster?.changed(redis);
  },
  failover: (fault, { ledger, time, cluster, repairs, trace }, { redis }) => {
    redis.lagMs = fault.lagMs;
    // Writes from now on are under way when the failover comes.
    repairs.after(fault.lagMs, () => {
      const formerMaster = redis.master.name;
      const done = redis.failOver(fault);
      cluster?.changed(redis);
      // An old master that is alive acknowledges writes that will be lost, until it becomes a replica.
      const at = done && fault.oldMaster === 'alive' ? time.now + fault.forMs : time.now;
      ledger.losses.push({ at, ...(done && { failover: { formerMaster, at: time.now } }) });
      trace.add('fault', () => (done ? `${redis.master.name} is the master` : 'there is no replica'));
    });
  },
  'kill-listeners': (_, __, { redis }) => redis.master.killOthers('pubsub'),
  'kill-publishers': (_, __, { redis }) => redis.master.killOthers('normal'),
  busy: ({ forMs, probability }, world) =>
    refuse(world, forMs, () =>
      world.network.random.chance(probability)
        ? 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'
        : undefined,
    ),
  'no-memory': ({ forMs }, world) => {
    const { ledger, time } = world;
    for (const topic of ['news', 'bids'] as const) ledger.forgotten.push({ topic, at: time.now + forMs });
    refuse(world, forMs, (_, { grows }) => (grows === true ? OUT_OF_MEMORY : undefined));
  },
  'not-permitted': ({ forMs, command }, world) => {
    const { ledger, time } = world;
    ledger.unnoted.push({ from: time.now, to: time.now + forMs });
    refuse(world, forMs, (name) =>
      name === command ? `NOPERM this user has no permissions to run the '${name}' command` : undefined,
    );
  },
  'redis-frozen': ({ forMs }, _, { redis }) => redis.freeze(forMs),
  'slot-moves': ({ topic, forMs }, { cluster }) => cluster?.move(topic, forMs),
  evicted: (fault, { trace, ledger, time }, { redis: { master } }) => {
    const { topic, what } = fault;
    if (what !== 'list') ledger.evictions.push({ topic, at: time.now });
    const key = evictedBy(fault, master.data.keys);
    trace.add('fault', () => `${key ?? 'nothing'} is evicted`);
    if (key !== undefined && master.alive) master.evict(key);
  },
  'older-pod': ({ forMs }, world) => {
    const { ledger, time } = world;
    ledger.unnoted.push({ from: time.now, to: time.now + forMs });
    const pod = world.startPod({ isOlder: true });
    world.repairs.after(forMs, () => {
      if (pod.isLive) world.time.after(0, pod.owner, () => void pod.stop());
    });
  },
  'cut-client': ({ forMs, client }, world) => cut(world, world.clients.slice(client, client + 1), forMs),
  storm: ({ forMs }, world) => cut(world, world.clients, forMs),
  'brokers-away': ({ forMs }, { kafka, repairs }) => {
    kafka.isAvailable = false;
    repairs.after(forMs, () => (kafka.isAvailable = true));
  },
  'more-partitions': ({ topic, count }, { kafka }) =>
    kafka.addPartitions(topic, kafka.topic(topic).partitions.length + count),
  'topic-made-anew': ({ topic, partitions }, { kafka, ledger }) => {
    noteDeletion(kafka, ledger, topic);
    kafka.create(topic, partitions);
  },
  'topic-deleted': ({ topic, partitions, forMs }, { kafka, ledger, repairs, gone }) => {
    noteDeletion(kafka, ledger, topic);
    kafka.delete(topic);
    const makeAnew = (): void => {
      if (!kafka.has(topic)) kafka.create(topic, partitions);
    };
    if (forMs === undefined) gone.set(topic, makeAnew);
    else repairs.after(forMs, makeAnew);
  },
  'pod-of-another-bus': ({ forMs }, world) => {
    const pod = world.startStranger();
    world.repairs.after(forMs, () => void world.time.after(0, pod.owner, () => void pod.stop()));
  },
  'leader-elected': ({ topic }, { kafka }) => kafka.elect(topic),
  'end-of-log-lost': ({ topic, partition: drawn, records }, { kafka, ledger }) => {
    const { id: topicId, partitions } = kafka.topic(topic);
    const partition = drawn % partitions.length;
    const from = kafka.loseEnd(topic, partition, records);
    ledger.lost({ topicId, partition, from }, consumed(kafka, topic, partition));
  },
  'slow-link': ({ forMs, latencyMs }, { network, repairs }, { pod }) => {
    const route = network.route(pod.owner);
    route.latencyMs = [latencyMs / 2, latencyMs];
    repairs.after(forMs, () => (route.latencyMs = LATENCY_MS));
  },
  'blocked-link': ({ forMs }, { network, time }, { pod }) => {
    const route = network.route(pod.owner);
    route.blockedUntil = Math.max(route.blockedUntil, time.now + forMs);
  },
  'broken-listener': (_, __, { pod }) => pod.redis.listening.forEach((socket) => socket.break()),
  'broken-publisher': (_, __, { pod }) => pod.redis.commands.forEach((socket) => socket.break()),
  'half-open-listener': (_, __, { pod }) => pod.redis.listening.forEach((socket) => socket.vanish('both')),
  'deaf-pod': ({ forMs }, { network, time, repairs }, { pod }) => {
    const route = network.route(pod.owner);
    route.deafUntil = time.now + forMs;
    pod.redis.listening.forEach((socket) => socket.vanish('both'));
    repairs.after(forMs, () => (route.deafUntil = 0));
  },
  'half-open-publisher': ({ direction }, _, { pod }) =>
    pod.redis.commands.forEach((socket) => socket.vanish(direction)),
  'frozen-pod': ({ forMs }, { repairs, time }, { pod: { owner } }) => {
    if (owner.state !== 'running') return;
    owner.state = 'frozen';
    repairs.after(forMs, () => {
      if (owner.state === 'frozen') time.thaw(owner);
    });
  },
  'killed-pod': ({ forMs, silently }, world, { pod }) => {
    pod.kill(silently);
    world.repairs.after(forMs, () => void world.startPod());
  },
  'rolled-pod': (_, world, { pod }) => {
    world.startPod();
    world.time.after(0, pod.owner, () => void pod.stop());
  },
  'cut-off-from-kafka': ({ forMs }, { kafka, repairs }, { pod }) => {
    kafka.cutOff.add(pod.owner);
    repairs.after(forMs, () => void kafka.cutOff.delete(pod.owner));
  },
};

/** Notes the events that the group has not consumed: they are lost with the topic. */
function noteDeletion(kafka: SimulatedKafka, ledger: Ledger, topic: string): void {
  const { id: topicId, partitions } = kafka.topic(topic);
  ledger.deleted.add(topicId);
  for (const partition of partitions.keys()) {
    ledger.lost({ topicId, partition, from: 0 }, consumed(kafka, topic, partition));
  }
}

/** Returns the group's position; undefined: it has none in the present topic of this name. */
function consumed(kafka: SimulatedKafka, topic: string, partition: number) {
  const committed = kafka.group(GROUP).committed({ topic, partition });
  const ofTopic = readPositionText(committed?.metadata ?? null)?.topicId;
  return ofTopic === undefined || ofTopic === kafka.topic(topic).id ? committed : undefined;
}

function cut({ repairs }: World, clients: readonly SimulatedClient[], forMs: number): void {
  for (const client of clients) {
    if (client.cut()) repairs.after(forMs, () => client.connect());
  }
}

/** Returns one master of a cluster or the other. */
function pairHit({ pairs }: World, { atMs }: Fault): RedisPair {
  const pair = pairs[atMs % pairs.length];
  if (pair === undefined) throw new Error('expected a Redis');
  return pair;
}

/** Names keys like src/bus/redis/names.ts. */
function evictedBy({ topic, what, list }: FaultOf<'evicted'>, keys: readonly string[]): string | undefined {
  const versions = new Set([`${PREFIX}@version:${topic}`, `${PREFIX}@version:{${topic}}:${topic}`]);
  if (what === 'version') return keys.find((key) => versions.has(key));
  const state = `${PREFIX}@history:{${topic}}`;
  if (what === 'state') return keys.find((key) => key === state);
  const lists = keys.filter((key) => key.startsWith(`${state}:`));
  return lists[list % lists.length];
}

function refuse({ servers, repairs }: World, forMs: number, reason: Refusal): void {
  for (const server of servers) server.refuses = reason;
  repairs.after(forMs, () => {
    for (const server of servers) server.refuses = () => undefined;
  });
}
