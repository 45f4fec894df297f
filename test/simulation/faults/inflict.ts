import { LATENCY_MS } from '../redis/network.ts';
import type { RedisPair } from '../world/redis-pair.ts';
import { PREFIX } from '../world/pod-settings.ts';
import type { SimulatedPod } from '../world/pod.ts';
import { GROUP, type World } from '../world/world.ts';
import type { Fault } from './fault.ts';

/** Lets a fault happen now. What lasts is mended after its time. */
export function inflict(world: World, fault: Fault): void {
  const pod = 'pod' in fault ? podOf(world, fault.pod) : undefined;
  world.trace.add('fault', () => `${JSON.stringify(fault)}${pod === undefined ? '' : ` is ${pod.name}`}`);
  if (!('pod' in fault)) inflictOnAll(world, fault);
  else if (pod !== undefined) inflictOnPod(world, fault, pod);
}

function podOf({ livePods }: World, number: number): SimulatedPod | undefined {
  return livePods[number % livePods.length];
}

function inflictOnAll(world: World, fault: Fault): void {
  const { kafka, repairs, ledger, time, cluster } = world;
  const redis = 'topic' in fault ? world.pairOf(fault.topic) : pairHit(world, fault);
  switch (fault.kind) {
    case 'redis-crash':
      ledger.losses.push({ at: time.now });
      redis.crash(fault.forMs, fault.keepsData, fault.silent);
      cluster?.changed(redis);
      return;
    case 'failover':
      redis.lagMs = fault.lagMs;
      // What is written from now on is under way while the failover comes.
      repairs.after(fault.lagMs, () => {
        const formerMaster = redis.master.name;
        const done = redis.failOver(fault);
        cluster?.changed(redis);
        // Until it becomes a replica, an old master that is alive acknowledges what will be lost.
        const at = done && fault.oldMaster === 'alive' ? time.now + fault.forMs : time.now;
        ledger.losses.push({ at, ...(done && { failover: { formerMaster, at: time.now } }) });
        world.trace.add('fault', () => (done ? `${redis.master.name} is the master` : 'there is no replica'));
      });
      return;
    case 'kill-listeners':
      redis.master.killOthers('pubsub');
      return;
    case 'kill-publishers':
      redis.master.killOthers('normal');
      return;
    case 'busy':
      refuse(world, fault.forMs, () =>
        world.network.random.chance(fault.probability)
          ? 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'
          : undefined,
      );
      return;
    case 'no-memory':
      refuse(world, fault.forMs, (_name, grows) =>
        grows ? "OOM command not allowed when used memory > 'maxmemory'." : undefined,
      );
      return;
    case 'not-permitted':
      refuse(world, fault.forMs, (name) =>
        name === fault.command
          ? `NOPERM this user has no permissions to run the '${name}' command`
          : undefined,
      );
      return;
    case 'redis-frozen':
      redis.freeze(fault.forMs);
      return;
    case 'slot-moves':
      cluster?.move(fault.topic, fault.forMs);
      return;
    case 'evicted': {
      const key = evictedBy(fault, redis.master.data.keys);
      world.trace.add('fault', () => `${key ?? 'nothing'} is evicted`);
      if (key !== undefined && redis.master.alive) redis.master.evict(key);
      return;
    }
    case 'older-pod': {
      const pod = world.startPod({ isOlder: true });
      repairs.after(fault.forMs, () => {
        if (pod.isLive) time.after(0, pod.owner, () => void pod.stop());
      });
      return;
    }
    case 'cut-client':
    case 'storm': {
      const cut =
        fault.kind === 'storm' ? world.clients : world.clients.slice(fault.client, fault.client + 1);
      for (const client of cut) {
        if (client.cut()) repairs.after(fault.forMs, () => client.connect());
      }
      return;
    }
    case 'brokers-away':
      kafka.isAvailable = false;
      repairs.after(fault.forMs, () => (kafka.isAvailable = true));
      return;
    case 'more-partitions':
      kafka.addPartitions(fault.topic, kafka.topic(fault.topic).partitions.length + fault.count);
      return;
    case 'topic-made-anew': {
      const { id, partitions } = kafka.topic(fault.topic);
      const group = kafka.group(GROUP);
      ledger.deleted.set(
        id,
        new Map(
          partitions.map((_, partition) => [
            partition,
            group.committed({ topic: fault.topic, partition })?.offset ?? 0,
          ]),
        ),
      );
      kafka.create(fault.topic, fault.partitions);
      return;
    }
    default:
      throw new Error(`expected a fault of no single pod, got ${fault.kind}`);
  }
}

function inflictOnPod(world: World, fault: Fault, pod: SimulatedPod): void {
  const { network, kafka, repairs, time } = world;
  const route = network.route(pod.owner);
  const { commands, listening } = pod.redis;
  switch (fault.kind) {
    case 'slow-link': {
      route.latencyMs = [fault.latencyMs / 2, fault.latencyMs];
      repairs.after(fault.forMs, () => (route.latencyMs = LATENCY_MS));
      return;
    }
    case 'blocked-link':
      route.blockedUntil = Math.max(route.blockedUntil, time.now + fault.forMs);
      return;
    case 'broken-listener':
      for (const socket of listening) socket.break();
      return;
    case 'broken-publisher':
      for (const socket of commands) socket.break();
      return;
    case 'half-open-listener':
      for (const socket of listening) socket.vanish('both');
      return;
    case 'half-open-publisher':
      for (const socket of commands) socket.vanish(fault.direction);
      return;
    case 'frozen-pod':
      if (pod.owner.state !== 'running') return;
      pod.owner.state = 'frozen';
      repairs.after(fault.forMs, () => {
        if (pod.owner.state === 'frozen') time.thaw(pod.owner);
      });
      return;
    case 'killed-pod':
      pod.kill(fault.silently);
      repairs.after(fault.forMs, () => void world.startPod());
      return;
    case 'rolled-pod':
      world.startPod();
      time.after(0, pod.owner, () => void pod.stop());
      return;
    case 'cut-off-from-kafka':
      kafka.cutOff.add(pod.owner);
      repairs.after(fault.forMs, () => void kafka.cutOff.delete(pod.owner));
      return;
    default:
      throw new Error(`expected a fault of one pod, got ${fault.kind}`);
  }
}

/** Of a cluster, one master or the other. */
function pairHit({ pairs }: World, { atMs }: Fault): RedisPair {
  const pair = pairs[atMs % pairs.length];
  if (pair === undefined) throw new Error('expected a Redis');
  return pair;
}

/** Names as those of src/bus/redis/names.ts. */
function evictedBy(
  { topic, what, list }: Extract<Fault, { kind: 'evicted' }>,
  keys: readonly string[],
): string | undefined {
  const versions = new Set([`${PREFIX}@version:${topic}`, `${PREFIX}@version:{${topic}}:${topic}`]);
  if (what === 'version') return keys.find((key) => versions.has(key));
  const state = `${PREFIX}@history:{${topic}}`;
  if (what === 'state') return keys.find((key) => key === state);
  const lists = keys.filter((key) => key.startsWith(`${state}:`));
  return lists[list % lists.length];
}

function refuse(
  { servers, repairs }: World,
  forMs: number,
  reason: (name: string, grows: boolean) => string | undefined,
): void {
  for (const server of servers) server.refuses = (name, { grows = false }) => reason(name, grows);
  repairs.after(forMs, () => {
    for (const server of servers) server.refuses = () => undefined;
  });
}
