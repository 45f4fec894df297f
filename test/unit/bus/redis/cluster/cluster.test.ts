import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { keyOfAddress, type Address } from '../../../../../src/bus/redis/access.ts';
import { Cluster } from '../../../../../src/bus/redis/cluster/cluster.ts';
import type { NodeListeningConnection } from '../../../../../src/bus/redis/cluster/node-connections.ts';
import type {
  CommandConnection,
  ConnectionListener,
  Reply,
} from '../../../../../src/bus/redis/connection.ts';
import { createLog } from '../../../../../src/log.ts';
import { stillClock } from '../../../support/still-clock.ts';

const NODE = { host: 'redis-0', port: 6379 };
const OTHER = { host: 'redis-1', port: 6379 };

/** Both tell that each serves half of the slots. */
const VIEW: readonly Reply[] = [
  { value: 'cluster_state:ok\r\ncluster_current_epoch:1\r\n' },
  {
    value: [
      [0, 8191, [NODE.host, NODE.port]],
      [8192, 16383, [OTHER.host, OTHER.port]],
    ],
  },
];

/** A node's connection. What ioredis says of a command while it is lost is about its own options. */
class Node {
  replies: readonly Reply[] = VIEW;
  isStopped = false;
  #listener: ConnectionListener | undefined;
  #isConnected = false;

  readonly commands: CommandConnection = {
    start: (listener) => void (this.#listener = listener),
    stop: () => void (this.isStopped = true),
    reconnect: () => undefined,
    transact: () => Promise.reject(new Error('unexpected')),
    send: () =>
      this.#isConnected
        ? Promise.resolve(this.replies)
        : Promise.reject(new Error("Stream isn't writeable and enableOfflineQueue options is false")),
  };

  connect(): void {
    this.#isConnected = true;
    this.#listener?.onReady();
  }

  lose(): void {
    this.#isConnected = false;
    this.#listener?.onLost();
  }
}

/** A cluster whose nodes are not connected yet. Time stands still until `look`. */
function setUp(t: TestContext, seeds: readonly Address[] = [NODE, OTHER]) {
  const nodes = new Map([...seeds, OTHER].map((address) => [keyOfAddress(address), new Node()]));
  const connected: string[] = [];
  const lines: string[] = [];
  const write = (line: string): void => {
    const { msg, reason } = JSON.parse(line) as { msg: string; reason: string };
    lines.push(`${msg}: ${reason}`);
  };
  const { clock, wakeAll } = stillClock();
  const cluster = new Cluster({
    nodes: seeds,
    connect: (address) => {
      connected.push(keyOfAddress(address));
      const node = nodes.get(keyOfAddress(address));
      assert.ok(node);
      const listening = { start: () => undefined, stop: () => undefined };
      return { commands: node.commands, listening: listening as unknown as NodeListeningConnection };
    },
    log: createLog('warn', { write }),
    clock,
  });
  cluster.start();
  t.after(() => cluster.stop());
  const look = async (): Promise<void> => {
    await setImmediate();
    for (let times = 0; times < 3; times += 1) {
      wakeAll();
      await setImmediate();
    }
  };
  const all = [...nodes.values()];
  const connectAll = async (): Promise<void> => {
    for (const node of all) node.connect();
    await look();
  };
  return { all, lines, look, connectAll, connected };
}

test('a cluster whose connections are all lost says which nodes it has none to, once', async (t) => {
  const { all, lines, look, connectAll } = setUp(t);
  await connectAll();
  assert.deepEqual(lines, []);
  for (const node of all) node.lose();
  await look();
  await look();
  assert.deepEqual(lines, [
    'no node tells who serves the slots: expected a connection to one of redis-0:6379, redis-1:6379, got none',
  ]);
});

test('what a node says that is reached counts, not that another one is not', async (t) => {
  const { all, lines, look, connectAll } = setUp(t);
  await connectAll();
  all[0]?.lose();
  for (const node of all) node.replies = [{ value: 'cluster_state:fail\r\n' }, { value: [] }];
  await look();
  assert.deepEqual(lines, ['no node tells who serves the slots: the cluster is down, as a node of it finds']);
});

test('a Redis that is no cluster says so at the start, and one that is yet to be reached says nothing', async (t) => {
  const { all, lines, look } = setUp(t);
  await look();
  assert.deepEqual(lines, []);
  const refused = { error: new Error('ERR This instance has cluster support disabled') };
  for (const node of all) {
    node.replies = [refused, refused];
    node.connect();
  }
  await look();
  await look();
  assert.deepEqual(lines, [
    'no node tells who serves the slots: ERR This instance has cluster support disabled',
  ]);
});

test('nodes that announce addresses which lead nowhere are asked over the connections that they have', async (t) => {
  const SEED = { host: 'seed', port: 6379 };
  const { all, look, connected } = setUp(t, [SEED]);
  const [seed, master] = all;
  assert.ok(seed && master);
  seed.replies = [
    { value: 'cluster_state:ok\r\ncluster_current_epoch:1\r\n' },
    { value: [[0, 16383, [OTHER.host, OTHER.port]]] },
  ];
  seed.connect();
  await look();
  await look();
  await look();
  assert.deepEqual(connected, ['seed:6379', 'redis-1:6379']);
  master.replies = seed.replies;
  master.connect();
  await look();
  await look();
  assert.deepEqual([seed.isStopped, master.isStopped], [true, false]);
});
