import assert from 'node:assert/strict';
import test from 'node:test';
import { selfSigned } from '../helpers/certificate.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { startSecureKafka } from '../helpers/secure-kafka.ts';
import { needs } from '../helpers/services.ts';
import { createTopics } from '../helpers/topic.ts';

test(
  'the gateway reaches Kafka over TLS with a password, and a wrong password keeps the pod from being ready',
  needs('kafka-jars'),
  async (t) => {
    const certificate = await selfSigned(t);
    const kafka = await startSecureKafka(t, certificate, { name: 'sluice', password: 'open sesame' });
    const admin = kafka.open.admin();
    await admin.connect();
    await createTopics(admin, [{ topic: 'items' }]);
    await admin.disconnect();
    const settings = {
      GRAPH: await graphFolder(t, { 'schema.graphql': itemSchema('items') }),
      KAFKA_BROKERS: kafka.brokers,
      KAFKA_TLS: 'true',
      KAFKA_CA: certificate.certificateFile,
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: 'sluice',
    };
    const gateway = await startGateway(t, { ...settings, KAFKA_SASL_PASSWORD: 'open sesame' });
    const locked = await startGateway(t, { ...settings, KAFKA_SASL_PASSWORD: 'open rye' });
    await gateway.untilReady();
    const received = new Received<{ item: { n: number } }>(
      graphqlClient(t, gateway.graphqlUrl),
      'subscription { item { n } }',
    );
    await gateway.untilMetric('sluice_subscribers', 1);
    const producer = kafka.open.producer();
    await producer.connect();
    await producer.send({ topic: 'items', messages: [{ value: '{"id":1,"n":7}' }] });
    await producer.disconnect();
    await received.until(1);
    assert.equal(received.data[0]?.item.n, 7);

    await locked.untilNotReady(/consumer crashed|joining/);
    await locked.untilLog(/authenticat/i);
    for (const { lines } of [gateway, locked]) {
      assert.ok(!lines.some((line) => /sesame|open rye/.test(JSON.stringify(line))));
    }
  },
);
