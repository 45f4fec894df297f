import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Redis } from 'ioredis';
import { slotOf } from '../../src/bus/redis/cluster/slot.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { redisAdmin, startRedis, type RedisServer } from './redis.ts';
import type { Scope } from './scope.ts';

export interface RedisCluster {
  /** `host:port` of the nodes that were masters at the start. */
  readonly nodes: readonly string[];
  readonly masters: readonly RedisServer[];
  /** A connection to each node that was a master at the start. */
  readonly clients: readonly Redis[];
  /** Returns the master of the word's slot, as a node other than `apart` tells. */
  masterOf(word: string, apart?: RedisServer): Promise<RedisServer>;
  /** Resolves when another node is the master of the word's slot. */
  replaced(word: string, former: RedisServer): Promise<RedisServer>;
  /** Makes a replica take the place of the master of the word's slot. */
  failover(word: string): Promise<unknown>;
  /** Moves the word's slot, with its keys, to another master. Resolves when both know. */
  move(word: string): Promise<void>;
}

/** `redis-cli` makes no cluster of fewer masters, which could not elect a new master when one fails. */
const LEAST_TO_ELECT = 3;

const SLOTS = 16_384;

/** A master that does not answer for this time is replaced. */
const NODE_TIMEOUT_MS = 1_500;

type Slots = readonly (readonly [
  first: number,
  last: number,
  master: readonly [host: string, port: number],
])[];

type RoleReply = readonly [
  role: string,
  offset: number,
  replicas: readonly (readonly [host: string, port: string])[],
];

/** A cluster of the test's own, with replicas of each master; servers as in `startRedis`. Needs 'redis-server'. */
export async function startCluster(
  scope: Scope,
  { masters = 3, replicas = 0, keeps = false } = {},
): Promise<RedisCluster> {
  const servers = await Promise.all(
    Array.from({ length: masters * (1 + replicas) }, () => startNode(scope, keeps)),
  );
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
  const clients = await Promise.all(servers.map((server) => redisAdmin(scope, server)));
  if (masters < LEAST_TO_ELECT) {
    await meet(clients, servers);
  } else {
    const options = ['--cluster-replicas', String(replicas), '--cluster-yes'];
    await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, ...options]);
  }
  await Promise.all(
    clients.map((client) =>
      eventually(async () => {
        assert.match(String(await client.call('CLUSTER', 'INFO')), /cluster_state:ok/);
        const known = String(await client.call('CLUSTER', 'NODES'));
        assert.equal(known.match(/\bslave\b/g)?.length ?? 0, masters * replicas);
        assert.doesNotMatch(await client.info('replication'), /master_link_status:down/);
      }),
    ),
  );
  const masterOf = async (word: string, apart?: RedisServer): Promise<RedisServer> => {
    const client = clients[servers.findIndex((server) => server !== apart)];
    const slots = (await client?.call('CLUSTER', 'SLOTS')) as Slots;
    const slot = slotOf(word);
    const range = slots.find(([first, last]) => first <= slot && slot <= last);
    const found = servers.find(({ port }) => port === range?.[2][1]);
    assert.ok(found, `expected a master of slot ${slot}, got ${JSON.stringify(slots)}`);
    return found;
  };
  /** Slots move one at a time: two masters that MIGRATE keys to each other both block until they time out. */
  let moved: Promise<void> = Promise.resolve();
  return {
    nodes: addresses.slice(0, masters),
    masters: servers.slice(0, masters),
    clients: clients.slice(0, masters),
    masterOf,
    replaced: (word, former) =>
      eventually(async () => {
        const present = await masterOf(word, former);
        assert.notEqual(present, former);
        return present;
      }),
    async failover(word) {
      const master = await masterOf(word);
      const client = clients[servers.indexOf(master)];
      assert.ok(client);
      const [, , known] = (await client.call('ROLE')) as RoleReply;
      const port = Number(known[0]?.[1]);
      return clients[servers.findIndex((server) => server.port === port)]?.call('CLUSTER', 'FAILOVER');
    },
    move(word) {
      moved = moved.then(() => move(word));
      return moved;
    },
  };

  async function move(word: string): Promise<void> {
    const source = await masterOf(word);
    const target = servers.slice(0, masters).find((server) => server !== source);
    assert.ok(target);
    const [from, to] = [source, target].map((server) => clients[servers.indexOf(server)]);
    assert.ok(from && to);
    await moveSlot(slotOf(word), from, to, target.port, clients);
  }
}

async function startNode(scope: Scope, keeps: boolean): Promise<RedisServer> {
  const port = String(await freePort());
  const timeout = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
  return startRedis(scope, { keeps, args: ['--cluster-enabled', 'yes', '--cluster-port', port, ...timeout] });
}

/** Makes a cluster of masters with equal shares of the slots. */
async function meet(clients: readonly Redis[], servers: readonly RedisServer[]): Promise<void> {
  const [first] = clients;
  assert.ok(first);
  const bounds = [...clients.keys(), clients.length].map((index) =>
    Math.floor((index * SLOTS) / clients.length),
  );
  for (const [index, client] of clients.entries()) {
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    await client.call('CLUSTER', 'ADDSLOTSRANGE', bounds[index] ?? 0, (bounds[index + 1] ?? 0) - 1);
    const [, busPort = ''] = (await client.config('GET', 'cluster-port')) as string[];
    if (client !== first)
      await first.call('CLUSTER', 'MEET', '127.0.0.1', servers[index]?.port ?? 0, busPort);
  }
}

/** Moves a slot as `redis-cli --cluster reshard` does. */
async function moveSlot(slot: number, from: Redis, to: Redis, port: number, all: readonly Redis[]) {
  const [source, target] = await Promise.all(
    [from, to].map((one) => one.call('CLUSTER', 'MYID') as Promise<string>),
  );
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source ?? '');
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target ?? '');
  for (;;) {
    const keys = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, 10)) as readonly string[];
    if (keys.length === 0) break;
    await from.call('MIGRATE', '127.0.0.1', port, '', 0, 5_000, 'REPLACE', 'KEYS', ...keys);
  }
  for (const node of [to, from, ...all]) {
    // Replicas refuse the command, and learn of the move from their masters.
    await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', target ?? '').catch(() => undefined);
  }
}
