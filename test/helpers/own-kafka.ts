import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Kafka, logLevel } from 'kafkajs';
import { ended, spawnFor } from './child-process.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { disconnectAfter } from './kafka-client.ts';
import type { Scope } from './scope.ts';
import { kafkaJars } from './services.ts';

export interface Listener {
  /** The prefix of this listener's settings. */
  readonly name: string;
  readonly protocol: 'SSL' | 'SASL_SSL';
  readonly port: number;
  /** The port that the broker tells clients. */
  readonly advertised: number;
}

interface BrokerOptions {
  /** Options of the Java virtual machine. */
  readonly java?: readonly string[];
  /** Options of the command that makes the data folder. */
  readonly format?: readonly string[];
}

export interface OwnKafka {
  readonly brokers: string;
  /** A client without TLS and password. */
  readonly client: Kafka;
  /** The folder that holds a folder for each partition: `<topic>-<partition>`. */
  readonly logFolder: string;
  /** The broker's `controller.quorum.voters`, by which further brokers join it. */
  readonly voters: string;
  /** Kills the broker, and starts it on the same data. Resolves when it answers. */
  readonly restart: () => Promise<void>;
  readonly kill: () => Promise<void>;
}

/**
 * A broker of the test's own, with a plain listener besides the given ones. Needs 'kafka-jars'.
 *
 * @param folder for configuration and data
 * @param settings added to `server.properties`
 */
export async function startOwnKafka(
  scope: Scope,
  folder: string,
  settings: Readonly<Record<string, string | number>> = {},
  { listeners = [], ...options }: BrokerOptions & { readonly listeners?: readonly Listener[] } = {},
): Promise<OwnKafka> {
  const [open, controller] = [await freePort(), await freePort()];
  const all = [...listeners, { name: 'PLAINTEXT', protocol: 'PLAINTEXT', port: open, advertised: open }];
  const addresses = (which: 'port' | 'advertised') =>
    all.map(({ name, [which]: port }) => `${name}://localhost:${port}`).join(',');
  const logFolder = path.join(folder, 'data');
  const voters = `1@localhost:${controller}`;
  const properties = {
    ...common(voters, logFolder),
    'process.roles': 'broker,controller',
    'node.id': 1,
    listeners: `${addresses('port')},CONTROLLER://localhost:${controller}`,
    'advertised.listeners': addresses('advertised'),
    'listener.security.protocol.map': [
      ...all.map(({ name, protocol }) => `${name}:${protocol}`),
      'CONTROLLER:PLAINTEXT',
    ].join(','),
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    // A killed broker may register again only when its former session is over.
    'broker.heartbeat.interval.ms': 500,
    'broker.session.timeout.ms': 3_000,
    ...settings,
  };
  const broker = await startBroker(scope, folder, properties, `localhost:${open}`, options);
  return { ...broker, logFolder, voters };
}

const common = (voters: string, logFolder: string) => ({
  'controller.quorum.voters': voters,
  'controller.listener.names': 'CONTROLLER',
  'inter.broker.listener.name': 'PLAINTEXT',
  'log.dirs': logFolder,
});

/**
 * A second broker, which joins one that `startOwnKafka` has started.
 *
 * @param folder for configuration and data
 * @param ports `advertised`: the port that the broker tells clients
 */
export function startFollower(
  scope: Scope,
  folder: string,
  { voters }: OwnKafka,
  ports: { readonly own: number; readonly advertised: number },
  settings: Readonly<Record<string, string | number>>,
): Promise<Omit<OwnKafka, 'logFolder' | 'voters'>> {
  const properties = {
    ...common(voters, path.join(folder, 'data')),
    'process.roles': 'broker',
    'node.id': 2,
    listeners: `PLAINTEXT://localhost:${ports.own}`,
    'advertised.listeners': `PLAINTEXT://localhost:${ports.advertised}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    ...settings,
  };
  return startBroker(scope, folder, properties, `localhost:${ports.own}`);
}

/**
 * A broker with only these settings. Needs 'kafka-jars'.
 *
 * @param folder for the configuration; the settings name the data folder
 * @param brokers the address at which the broker is awaited, without TLS and password
 */
export async function startBroker(
  scope: Scope,
  folder: string,
  properties: Readonly<Record<string, string | number>>,
  brokers: string,
  { java: options = [], format: formatting = [] }: BrokerOptions = {},
): Promise<Omit<OwnKafka, 'logFolder' | 'voters'>> {
  const file = path.join(folder, 'server.properties');
  const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(file, lines.join(''));
  const jars = path.join(kafkaJars(), '*');
  const java = [...options, '-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', jars];
  const format = ['kafka.tools.StorageTool', 'format', '-t', 'c2x1aWNlLXRlc3RzLXNlYw', '-c', file];
  await promisify(execFile)('java', [...java, ...format, ...formatting]);
  const start = () => {
    const child = spawnFor(scope, 'java', [...java, 'kafka.Kafka', file], { cwd: folder });
    // The broker logs to both, and would stand still if a pipe were full.
    child.stdout.resume();
    child.stderr.resume();
    return child;
  };
  let broker = start();
  const client = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING, retry: { retries: 0 } });
  const admin = client.admin();
  await eventually(() => admin.connect());
  disconnectAfter(scope, admin);
  // Kafka makes its topic of offsets for the first group; members wait in vain until it is loaded.
  await eventually(() => admin.fetchOffsets({ groupId: 'first' }));
  const restart = async () => {
    await ended(broker, 'SIGKILL');
    broker = start();
    // A new client each time, since kafkajs does not connect again without retries.
    await eventually(async () => {
      const probe = client.admin();
      await probe.connect();
      await probe.listTopics().finally(() => probe.disconnect());
    });
  };
  return { brokers, client, restart, kill: () => ended(broker, 'SIGKILL') };
}
