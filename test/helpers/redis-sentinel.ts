import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { spawnFor } from './child-process.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { startRedis, type RedisServer } from './redis.ts';
import type { Scope } from './scope.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface SentinelTrio {
  /** `host:port` of each Sentinel. */
  readonly sentinels: readonly string[];
  /** The name of the master. */
  readonly name: string;
  /** Returns the server that the Sentinels name now. */
  master(): Promise<RedisServer>;
  /** Makes a replica take the place of the master, which becomes a replica. */
  failover(): Promise<unknown>;
  /** Resolves when the Sentinels name another master. */
  replaced(former: RedisServer): Promise<RedisServer>;
}

export const NAME = 'mymaster';
const REPLICAS = 2;
const SENTINELS = 3;

/** The Sentinels take a master that does not answer for this time as down. */
const DOWN_AFTER_MS = 1_000;

/** A master, two replicas and three Sentinels of the test's own, as in `startRedis`. Needs 'redis-server'. */
export async function startSentinels(scope: Scope, { keeps = false } = {}): Promise<SentinelTrio> {
  const first = await startRedis(scope, { keeps });
  const replicaOf = ['--replicaof', '127.0.0.1', String(first.port)];
  const replicas = await Promise.all(
    Array.from({ length: REPLICAS }, () => startRedis(scope, { keeps, args: replicaOf })),
  );
  const servers = [first, ...replicas];
  const ports = await Promise.all(
    Array.from({ length: SENTINELS }, () => startSentinel(scope, first.port, SENTINELS - 1)),
  );
  const clients = ports.map((port) => sentinelClient(scope, port));
  await Promise.all(clients.map((client) => eventually(() => knowsAll(client))));
  const master = async (): Promise<RedisServer> => {
    const port = await portOfMaster(clients);
    const found = servers.find((one) => one.port === port);
    assert.ok(found, `expected the port of one of the servers, got ${port}`);
    return found;
  };
  return {
    sentinels: ports.map((port) => `127.0.0.1:${port}`),
    name: NAME,
    master,
    failover: async () => clients[0]?.call('SENTINEL', 'failover', NAME),
    replaced: (former) =>
      eventually(async () => {
        const present = await master();
        assert.notEqual(present, former);
        return present;
      }),
  };
}

/**
 * A Sentinel of a master on this machine.
 *
 * @param quorum the number of Sentinels that must find the master down
 * @param listening lines of the configuration that say how the Sentinel listens on a port
 * @param epoch of the last failover that the Sentinel knows of
 * @returns the Sentinel's port
 */
export async function startSentinel(
  scope: Scope,
  masterPort: number,
  quorum: number,
  listening = (port: number): readonly string[] => [`port ${port}`],
  epoch = 0,
): Promise<number> {
  const [folder, port] = [await temporaryFolder(scope), await freePort()];
  const file = path.join(folder, 'sentinel.conf');
  const lines = [
    ...listening(port),
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${NAME} 127.0.0.1 ${masterPort} ${quorum}`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} 4000`,
    `sentinel config-epoch ${NAME} ${epoch}`,
  ];
  await writeFile(file, [...lines, ''].join('\n'));
  spawnFor(scope, 'redis-server', [file, '--sentinel']);
  return port;
}

function sentinelClient(scope: Scope, port: number): Redis {
  const client = new Redis({ port, enableReadyCheck: false });
  client.on('error', () => undefined);
  scope.after(() => client.disconnect());
  return client;
}

/** Asserts that a Sentinel knows all servers: only then can the Sentinels replace the master. */
async function knowsAll(client: Redis): Promise<void> {
  const master = fieldsOf(await client.call('SENTINEL', 'master', NAME));
  assert.equal(master.get('num-slaves'), String(REPLICAS));
  assert.equal(master.get('num-other-sentinels'), String(SENTINELS - 1));
  const replicas = (await client.call('SENTINEL', 'replicas', NAME)) as unknown[];
  for (const replica of replicas) assert.equal(fieldsOf(replica).get('master-link-status'), 'ok');
}

/** Returns the master's port when all Sentinels name the same one. */
async function portOfMaster(clients: readonly Redis[]): Promise<number> {
  return eventually(async () => {
    const named = await Promise.all(
      clients.map(
        async (client) =>
          (await client.call('SENTINEL', 'get-master-addr-by-name', NAME)) as [host: string, port: string],
      ),
    );
    const ports = new Set(named.map(([, port]) => Number(port)));
    assert.equal(ports.size, 1);
    return [...ports][0] ?? 0;
  });
}

/** @param reply alternates names and values */
function fieldsOf(reply: unknown): ReadonlyMap<string, string> {
  const list = reply as readonly string[];
  const pairs = list.flatMap((name, index) =>
    index % 2 === 0 ? [[name, list[index + 1] ?? ''] as const] : [],
  );
  return new Map(pairs);
}
