/** A Kafka broker for tests: one small KRaft node, which starts quickly. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ensureCommands, findCommand } from './commands.mjs';
import { isReady, PROBE } from './kafka-probe.mjs';
import { withLock } from './lock.mjs';
import { accepts, exchange, LOOPBACK } from './network.mjs';
import { cacheFolder, dataFolder } from './places.mjs';
import { run, startServer, waitUntilReady } from './processes.mjs';

const VERSION = '4.3.1';
const READY_TIMEOUT_MS = 60_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const CLUSTER_ID = 'c2x1aWNlLXRlc3RzLWthZg';

const folder = path.join(dataFolder, 'kafka');
const dataOf = path.join(folder, 'data');
const logFile = path.join(folder, 'log');
const settingsFile = path.join(folder, 'server.properties');
/** The folder of the broker's code, when it is installed. */
export const jars = path.join(cacheFolder, `kafka-${VERSION}`);

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sluice</groupId>
  <artifactId>kafka</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;

export const kafka = {
  name: 'Kafka',
  variable: 'KAFKA_BROKERS',
  addressAt: (port) => `${LOOPBACK}:${port}`,

  /** Checks only that the broker is reachable: clients do TLS and login. */
  async reaches(brokers) {
    for (const broker of brokers.split(',')) {
      const { hostname, port } = new URL(`kafka://${broker.trim()}`);
      if (await accepts(hostname.replace(/^\[|\]$/g, ''), Number(port) || 9092)) return true;
    }
    return false;
  },

  answers: async ({ port }) => (await exchange(LOOPBACK, port, PROBE, isReady)) === true,

  async install() {
    if (existsSync(jars)) return ensureCommands('java');
    await ensureCommands('java', 'mvn');
    await withLock(path.join(cacheFolder, 'kafka.lock'), async () => {
      if (!existsSync(jars)) await download();
    });
  },

  /** @param {(identity: import('./processes.mjs').Identity) => void} started called at once, long before it is ready */
  async start({ port, controllerPort }, started) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(settingsFile, settings(port, controllerPort));
    const java = findCommand('java');
    const classpath = ['-cp', path.join(jars, '*')];
    if (!existsSync(path.join(dataOf, 'meta.properties'))) {
      const format = ['format', '--ignore-formatted', '-t', CLUSTER_ID, '-c', settingsFile];
      await run(java, ['-XX:TieredStopAtLevel=1', ...classpath, 'kafka.tools.StorageTool', ...format]);
    }
    const memory = ['-Xms64m', '-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
    const args = [...memory, ...classpath, 'kafka.Kafka', settingsFile];
    const identity = {
      pid: startServer(java, args, { cwd: folder, logFile }),
      marks: ['kafka.Kafka', settingsFile],
    };
    started(identity);
    const about = { name: kafka.name, timeoutMs: READY_TIMEOUT_MS, server: identity, logFile };
    await waitUntilReady(() => kafka.answers({ port }), about);
  },
};

/** Downloads to a temporary folder, which gets its final name only when all files are in it. */
async function download() {
  console.error(`Downloading Kafka ${VERSION} …`);
  const work = mkdtempSync(path.join(cacheFolder, 'kafka-'));
  try {
    writeFileSync(path.join(work, 'pom.xml'), POM);
    const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
    const args = ['-q', '-B', copy, '-DincludeScope=runtime', '-DoutputDirectory=lib'];
    await run(findCommand('mvn'), args, { cwd: work, timeoutMs: DOWNLOAD_TIMEOUT_MS });
    if (!readdirSync(path.join(work, 'lib')).includes(`kafka_2.13-${VERSION}.jar`)) {
      throw new Error(`Maven brought no kafka_2.13-${VERSION}.jar.`);
    }
    renameSync(path.join(work, 'lib'), jars);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function settings(port, controllerPort) {
  const lines = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@${LOOPBACK}:${controllerPort}`,
    listeners: `PLAINTEXT://${LOOPBACK}:${port},CONTROLLER://${LOOPBACK}:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://${LOOPBACK}:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': dataOf,
    'auto.create.topics.enable': false,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    // Without waits for a group's first members, for the old session after a kill, and for the broker's next
    // assignment of a group's partitions (a second after the one before, by default).
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1000,
    'group.consumer.assignment.interval.ms': 0,
    'broker.heartbeat.interval.ms': 500,
    'broker.session.timeout.ms': 3000,
  };
  return Object.entries(lines)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
