import assert from 'node:assert/strict';
import { copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { Authority } from '../helpers/authority.ts';
import { runCli } from '../helpers/gateway.ts';
import { needs } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { GuardedKafka, loggedBy } from './kafka-access-kafka.ts';

const PASSPHRASE = 'open sesame';

test(
  'a gateway shows brokers its certificate, also for dead letters, and a new one without being started anew',
  needs('kafka-jars'),
  async (t) => {
    const trusted = path.join(await temporaryFolder(t), 'trusted.pem');
    const kafka = await GuardedKafka.start(t, 'SSL', async (authority) => {
      await copyFile(authority.certificateFile, trusted);
      return {
        'listener.name.ssl.ssl.client.auth': 'required',
        'ssl.truststore.type': 'PEM',
        'ssl.truststore.location': trusted,
      };
    });
    const folder = await temporaryFolder(t);
    const [cert, key, passphrase] = ['cert', 'key', 'passphrase'].map((name) => path.join(folder, name)) as [
      string,
      string,
      string,
    ];
    const mount = async (from: Authority, secret: string) => {
      const issued = await from.issue('gateway', secret);
      await copyFile(issued.certificateFile, cert);
      await copyFile(issued.keyFile, key);
      await writeFile(passphrase, `${secret}\n`);
    };
    await mount(kafka.authority, PASSPHRASE);
    const settings = { KAFKA_CERT: cert, KAFKA_KEY: key, KAFKA_KEY_PASSPHRASE_FILE: passphrase };
    const gateway = await kafka.gateway(settings);
    await gateway.untilReady();
    const received = await kafka.subscriber(gateway);
    await kafka.send('{"id":1,"n":1}', 'no JSON');
    await received.until(1);
    await kafka.untilLetters(1);
    const listed = await runCli(t, ['dead-letters', 'list', '--json'], { ...kafka.settings, ...settings });
    assert.equal(listed.code, 0, listed.stderr);
    assert.match(listed.stdout, /not_json/);

    const next = await Authority.create(t);
    await copyFile(next.certificateFile, trusted);
    await mount(next, `${PASSPHRASE} again`);
    await kafka.kafka.restart();
    await kafka.send('{"id":1,"n":2}');
    await received.until(2);
    assert.deepEqual(
      received.data.map((data) => data?.item.n),
      [1, 2],
    );
    assert.doesNotMatch(loggedBy(gateway), /sesame/);
  },
);

test(
  'a gateway without a certificate, or with one that the broker does not trust, is not ready and says so',
  needs('kafka-jars'),
  async (t) => {
    const kafka = await GuardedKafka.start(t, 'SSL', (authority) =>
      Promise.resolve({
        'listener.name.ssl.ssl.client.auth': 'required',
        'ssl.truststore.type': 'PEM',
        'ssl.truststore.location': authority.certificateFile,
      }),
    );
    const stranger = await (await Authority.create(t)).issue('gateway');
    const refused = async (settings: Readonly<Record<string, string>>, why: RegExp) => {
      const gateway = await kafka.gateway(settings);
      await gateway.untilNotReady(/consumer crashed: /);
      const { error } = await gateway.untilLine(({ msg }) => msg.startsWith('the Kafka consumer ended'));
      assert.match(String(error), why);
      // One line for each end of a consumer.
      const faults = gateway.lines.filter(({ level, msg }) => level >= 50 && !msg.startsWith('the Kafka'));
      assert.deepEqual(faults, []);
    };
    const trusts = /the broker expected a certificate that it trusts, got/;
    await Promise.all([
      refused({}, new RegExp(`${trusts.source} none \\(KAFKA_CERT\\)`)),
      refused(
        { KAFKA_CERT: stranger.certificateFile, KAFKA_KEY: stranger.keyFile },
        new RegExp(`${trusts.source} that of KAFKA_CERT, for CN=gateway, valid until `),
      ),
      refused({ KAFKA_CA: stranger.certificateFile }, /by an authority in KAFKA_CA, got: unable to verify/),
    ]);
  },
);
