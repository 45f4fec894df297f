import assert from 'node:assert/strict';
import test from 'node:test';
import { runCli, startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { kafkaClient } from '../helpers/kafka-client.ts';
import { needs, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';
import { TRANSPORT_CLIENTS } from '../helpers/transport-client.ts';

test(
  'sluice explain puts together what the pod that consumed an event and the pod with the connection know of it',
  needs('kafka', 'redis'),
  async (t) => {
    const topic = await createTopic(t);
    const GRAPH = await graphFolder(t, { 'schema.graphql': itemSchema(topic) });
    const common = { GRAPH, ...podSettings(topic) };
    const { KAFKA_BROKERS: _brokers, KAFKA_GROUP_ID: _group, ...edge } = common;
    const [consuming, serving] = await Promise.all([startGateway(t, common), startGateway(t, edge)]);
    await Promise.all([consuming, serving].map((pod) => pod.untilReady()));
    const asking = TRANSPORT_CLIENTS.webSocket.ask(t, serving, { query: 'subscription { item { id } }' });
    await serving.untilMetric('sluice_subscribers', 1);
    const { rows } = (await (await fetch(`${serving.adminUrl}/debug/connections`)).json()) as {
      rows: readonly { id: string }[];
    };
    const id = rows[0]?.id ?? '';
    const urls = ['--url', consuming.adminUrl, '--url', serving.adminUrl];
    const explain = async (offset: number): Promise<string> => {
      const event = ['--topic', topic, '--partition', '0', '--offset', `${offset}`];
      const { code, stdout, stderr } = await runCli(t, ['explain', '--connection', id, ...event, ...urls]);
      assert.equal(code, 0, stderr);
      return stdout;
    };
    assert.match(await explain(0), /item: not recorded/);
    const producer = kafkaClient().producer();
    t.after(() => producer.disconnect());
    await producer.connect();
    const values = ['{"id":"1"}', 'not json', '{"id":"2"}'];
    await producer.send({ topic, messages: values.map((value) => ({ value, partition: 0 })) });
    await asking.untilPayloads(2);
    const delivered = await explain(2);
    assert.ok(
      delivered.startsWith(
        `${topic} 0/2\n  consumed at ${consuming.adminUrl}: published\n    routed by {"id":"2"} to `,
      ),
      delivered,
    );
    assert.match(
      delivered,
      new RegExp(`\\n  connection ${id} at ${serving.adminUrl}\\n    item: delivered\\n`),
    );
    const dead = await explain(1);
    assert.match(dead, new RegExp(`consumed at ${consuming.adminUrl}: dead letter\\n    not_json: `));
    assert.match(dead, /item: not recorded/);
    const nowhere = ['--connection', 'none', '--topic', topic, '--partition', '0', '--offset', '2'];
    const { code, stderr } = await runCli(t, ['explain', ...nowhere, ...urls]);
    assert.equal(code, 1);
    assert.ok(stderr.includes(`${consuming.adminUrl} or ${serving.adminUrl}`), stderr);
  },
);
