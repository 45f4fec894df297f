import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import test from 'node:test';
import { WebSocket } from 'ws';
import { spawnFor } from '../helpers/child-process.ts';
import { composeServices, portOf, type Service } from '../helpers/deploy/compose.ts';
import { freePort } from '../helpers/free-port.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kafkaAdmin } from '../helpers/kafka-client.ts';
import { kcat } from '../helpers/kcat.ts';
import { startNginx } from '../helpers/nginx.ts';
import { startBroker } from '../helpers/own-kafka.ts';
import { needs, podSettings } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

test(
  'with the settings of Kafka in compose.yaml, kcat on this machine produces by the published port',
  needs('kafka-jars', 'kcat'),
  async (t) => {
    const { environment = {}, ports: [published = ''] = [] } = (await composeServices())['kafka'] as Service;
    const folder = await temporaryFolder(t);
    // Other programs of this machine may have these ports.
    const own = new Map<string, number>();
    for (const port of ['9092', '9093', '9094']) own.set(port, await freePort());
    const settings = Object.entries(environment)
      .filter(([name]) => name !== 'KAFKA_HEAP_OPTS')
      .map(([name, value]) => [
        name
          .replace(/^KAFKA_/, '')
          .replaceAll('_', '.')
          .toLowerCase(),
        String(value).replaceAll(/(?<=:)909\d\b/g, (port) => String(own.get(port))),
      ]);
    const properties = { ...Object.fromEntries(settings), 'log.dirs': path.join(folder, 'data') };
    const address = `127.0.0.1:${own.get(portOf(published))}`;
    const { client } = await startBroker(t, folder, properties, address);
    const admin = await kafkaAdmin(t, client);
    await createTopics(admin, [{ topic: 'orders' }]);
    await kcat(t, 'orders', [{ key: '7', value: '{"orderId":7}' }], 'none', address);
    assert.deepEqual(
      (await admin.fetchTopicOffsets('orders')).map(({ high }) => high),
      ['1'],
    );
  },
);

test(
  'with the services of compose.yaml, a browser behind nginx sees simulated events from Kafka',
  needs('kafka', 'redis', 'nginx'),
  async (t) => {
    const settings = podSettings(`compose-${randomUUID()}`);
    const gateways = await Promise.all([startGateway(t, settings), startGateway(t, settings)]);
    const producer = path.join(ROOT, 'dist/examples/auction/producer.js');
    const house = spawnFor(t, process.execPath, [producer], { env: { ...process.env, ...settings } });
    await once(house.stdout, 'data');
    await Promise.all(gateways.map((gateway) => gateway.untilReady()));

    const { address } = await startNginx(
      t,
      gateways.map(({ port }) => port),
    );
    const page = await fetch(`http://${address}/`, { headers: { accept: 'text/html' } });
    assert.match(await page.text(), /id="graphiql"/);
    /** Connects as a page of this origin would. */
    const connect = (origin: string): Received => {
      class Browser extends WebSocket {
        constructor(url: string, protocols: string) {
          super(url, protocols, { origin });
        }
      }
      const client = graphqlClient(t, `ws://${address}/graphql`, { webSocketImpl: Browser });
      return new Received(client, 'subscription { property_update { headline } }');
    };
    const viewers = [connect(`http://${address}`), connect(`http://${address}`)];
    await Promise.all(viewers.map((viewer) => viewer.until(1)));
    // The fewest connections: one each.
    for (const gateway of gateways) assert.equal(await gateway.metric('sluice_connections'), 1);
    assert.notEqual(await connect('https://elsewhere.example.com').untilEnd(), 'complete');

    const exit = once(house, 'exit');
    house.kill('SIGTERM');
    assert.deepEqual(await exit, [0, null]);
  },
);
