import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { kafkaJars, needs } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { GuardedKafka, loggedBy } from './kafka-access-kafka.ts';

/** Of Kafka's own tools. */
async function setPassword({ kafka }: GuardedKafka, name: string, password: string): Promise<void> {
  const config = `SCRAM-SHA-512=[iterations=4096,password=${password}]`;
  const user = ['--entity-type', 'users', '--entity-name', name];
  const command = ['kafka.admin.ConfigCommand', '--bootstrap-server', kafka.brokers, '--alter', ...user];
  const java = ['-XX:TieredStopAtLevel=1', '-cp', path.join(kafkaJars(), '*')];
  await promisify(execFile)('java', [...java, ...command, '--add-config', config]);
}

test(
  'a gateway takes user and password from files, and new ones without being started anew',
  needs('kafka-jars'),
  async (t) => {
    const kafka = await GuardedKafka.start(t, 'SASL_SSL', () =>
      Promise.resolve({
        'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
        'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config':
          'org.apache.kafka.common.security.scram.ScramLoginModule required;',
      }),
    );
    await setPassword(kafka, 'sluice', 'open-sesame');
    const folder = await temporaryFolder(t);
    const [user, file] = [path.join(folder, 'user'), path.join(folder, 'password')];
    await writeFile(user, 'sluice\n');
    await writeFile(file, 'open-sesame\n');
    const gateway = await kafka.gateway({
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME_FILE: user,
      KAFKA_SASL_PASSWORD_FILE: file,
    });
    await gateway.untilReady();
    const received = await kafka.subscriber(gateway);
    await kafka.send('{"id":1,"n":1}', 'no JSON');
    await received.until(1);
    await gateway.untilMetric('sluice_dead_letters_total', 1);

    // As Vault does: another user with each password.
    await setPassword(kafka, 'sluice-2', 'open-barley');
    await writeFile(user, 'sluice-2');
    await writeFile(file, 'open-barley');
    await kafka.kafka.restart();
    await kafka.send('{"id":1,"n":2}', 'no JSON either');
    await received.until(2);
    await kafka.untilLetters(2);

    // The old one, which the file had before.
    await writeFile(file, 'open-sesame');
    await kafka.kafka.restart();
    await gateway.untilNotReady(/consumer crashed: .*authentication failed/);
    await writeFile(file, 'open-barley');
    await gateway.untilReady();
    await kafka.send('{"id":1,"n":3}');
    await received.until(3);
    // One line for each attempt.
    const told = gateway.lines.filter((line) => /authentication/i.test(JSON.stringify(line)));
    assert.deepEqual(
      [...new Set(told.map(({ msg }) => msg))],
      ['the Kafka consumer ended; starting another'],
    );
    assert.doesNotMatch(loggedBy(gateway), /sesame|barley/);
  },
);
