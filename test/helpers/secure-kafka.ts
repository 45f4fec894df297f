import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Kafka, logLevel } from 'kafkajs';
import type { Certificate } from './certificate.ts';
import { spawnFor } from './child-process.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { kafkaJars } from './services.ts';

export interface SecureKafka {
  /** Takes TLS and PLAIN only. */
  readonly brokers: string;
  /** Of the same broker, without either. */
  readonly open: Kafka;
}

/** A broker of the test's own that wants TLS and a password. Needs 'kafka-jars'. */
export async function startSecureKafka(
  t: TestContext,
  { folder, keyFile, certificateFile }: Certificate,
  user: { readonly name: string; readonly password: string },
): Promise<SecureKafka> {
  const [secure, open, controller] = [await freePort(), await freePort(), await freePort()];
  const keyStore = path.join(folder, 'keystore.pem');
  await writeFile(keyStore, (await readFile(keyFile, 'utf8')) + (await readFile(certificateFile, 'utf8')));
  const listeners = `SASL_SSL://localhost:${secure},PLAINTEXT://localhost:${open}`;
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@localhost:${controller}`,
    listeners: `${listeners},CONTROLLER://localhost:${controller}`,
    'advertised.listeners': listeners,
    'listener.security.protocol.map': 'SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.sasl_ssl.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required user_${user.name}="${user.password}";`,
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keyStore,
    'log.dirs': path.join(folder, 'data'),
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'group.initial.rebalance.delay.ms': 0,
  };
  const file = path.join(folder, 'server.properties');
  await writeFile(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const java = [
    '-Xmx384m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-cp',
    path.join(kafkaJars(), '*'),
  ];
  const format = ['kafka.tools.StorageTool', 'format', '-t', 'c2x1aWNlLXRlc3RzLXNlYw', '-c', file];
  await promisify(execFile)('java', [...java, ...format]);
  spawnFor(t, 'java', [...java, 'kafka.Kafka', file], { cwd: folder }).stdout.resume();
  const kafka = new Kafka({
    brokers: [`localhost:${open}`],
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
  });
  const admin = kafka.admin();
  await eventually(() => admin.connect());
  t.after(() => admin.disconnect());
  return { brokers: `localhost:${secure}`, open: kafka };
}
