import type { Bus } from '../../../src/bus/bus.ts';
import { ClusterBus } from '../../../src/bus/redis/cluster/cluster-bus.ts';
import type { RedisLinkOptions } from '../../../src/bus/redis/redis-link-options.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import type { Metrics } from '../../../src/metrics.ts';
import type { Defect } from '../defects/defect.ts';
import type { SimulatedCluster } from '../redis/cluster.ts';
import { SimulatedCommandConnection } from '../redis/command-connection.ts';
import { SimulatedListeningConnection } from '../redis/listening-connection.ts';
import type { Network } from '../redis/network.ts';
import { SimulatedNodeListening } from '../redis/node-listening.ts';
import type { Socket } from '../redis/socket.ts';
import type { Owner } from '../time/virtual-time.ts';

interface BusOptions extends Pick<RedisLinkOptions, 'histories' | 'log' | 'clock' | 'timing'> {
  readonly prefix: string;
  readonly lingerMs: number;
  readonly countsSubscribers: boolean;
  readonly metrics: Metrics;
}

/** A pod's part of Redis: its bus, and the connections of that bus, on which faults act. */
export interface PodRedis {
  createBus(options: BusOptions): Bus;
  readonly commands: readonly Socket[];
  readonly listening: readonly Socket[];
  /** Returns the servers that may get events that are published to the topic now. */
  serversOf(topic: string): readonly string[];
  /** The connection that defects of publishers use. */
  readonly connection: SimulatedCommandConnection;
}

export function singleRedis(network: Network, owner: Owner, defect: Defect): PodRedis {
  const commands = new SimulatedCommandConnection(network, owner);
  const listening = new SimulatedListeningConnection(network, owner);
  return {
    connection: commands,
    createBus: (options) =>
      new RedisBus({
        ...options,
        commands: defect.commands?.(commands) ?? commands,
        listening: defect.listening?.(listening) ?? listening,
      }),
    get commands() {
      return open([commands]);
    },
    get listening() {
      return open([listening]);
    },
    serversOf: () => open([commands]).map(({ server }) => server.name),
  };
}

/** Makes the bus of a cluster. It takes no defects. */
export function clusterRedis(network: Network, owner: Owner, cluster: SimulatedCluster): PodRedis {
  const commands: SimulatedCommandConnection[] = [];
  const listening: SimulatedNodeListening[] = [];
  return {
    connection: new SimulatedCommandConnection(network, owner),
    createBus: (options) =>
      new ClusterBus({
        ...options,
        nodes: cluster.nodes,
        connect: ({ host }, onMoved) => {
          const server = cluster.server(host);
          if (server === undefined) throw new Error(`expected a node of the cluster, got ${host}`);
          const way = network.to(() => server);
          const made = {
            commands: new SimulatedCommandConnection(way, owner),
            listening: new SimulatedNodeListening(way, owner, onMoved),
          };
          commands.push(made.commands);
          listening.push(made.listening);
          return made;
        },
      }),
    get commands() {
      return open(commands);
    },
    get listening() {
      return open(listening);
    },
    serversOf: (topic) => {
      const { servers } = cluster.pairOf(topic);
      return open(commands).flatMap(({ server }) => (servers.includes(server) ? server.name : []));
    },
  };
}

function open(connections: readonly { readonly present: Socket | undefined }[]): readonly Socket[] {
  return connections.flatMap(({ present }) => present ?? []);
}
