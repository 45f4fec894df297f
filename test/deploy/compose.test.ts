import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test, { before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { spawnFor } from '../helpers/child-process.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { startNginx } from '../helpers/nginx.ts';
import { kafkaBrokers, needs, redisUrl } from '../helpers/services.ts';

/** What the Dockerfile sets. */
const IMAGE = { NODE_ENV: 'production' };

const ROOT = path.join(import.meta.dirname, '../../..');

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly entrypoint?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly healthcheck: { readonly test?: readonly string[] };
}

describe('compose.yaml', () => {
  let services: Record<string, Service>;
  const get = (name: string): Service => {
    const service = services[name];
    if (service === undefined) throw new Error(`Expected a service ${name}, got ${Object.keys(services)}.`);
    return service;
  };

  before(async () => {
    const text = await readFile(path.join(ROOT, 'compose.yaml'), 'utf8');
    services = (parse(text, { merge: true }) as { services: Record<string, Service> }).services;
  });

  it('pins the version of every image that it does not build', () => {
    for (const [name, { image, build }] of Object.entries(services)) {
      if (build === undefined) assert.match(image, /:\d+\.\d+\.\d+$/, name);
    }
  });

  it('gives the gateways settings that exist, and more time to end than they take to drain', () => {
    for (const name of ['sluice-1', 'sluice-2']) {
      const { environment = {}, stop_grace_period, read_only } = get(name);
      const config = loadConfig(environment);
      for (const setting of Object.keys(environment)) assert.ok(setting in config, setting);
      const seconds = Number(/^(\d+)s$/.exec(stop_grace_period ?? '')?.[1]);
      assert.ok(seconds >= config.DRAIN_DELAY_SECONDS + config.DRAIN_SECONDS + 10, stop_grace_period);
      assert.equal(read_only, true);
      assert.equal(loadConfig({ ...IMAGE, ...environment }).GRAPHIQL, true, 'to be tried out in a browser');
    }
  });

  it('puts nginx in front of both gateways, on port 8080 of this machine', () => {
    const { environment = {}, ports, volumes = [] } = get('nginx');
    const { PORT } = loadConfig({});
    assert.equal(
      environment['SERVERS'],
      `server sluice-1:${PORT} max_fails=0; server sluice-2:${PORT} max_fails=0;`,
    );
    assert.deepEqual(ports, [`127.0.0.1:8080:${environment['LISTEN']}`]);
    for (const volume of volumes) assert.ok(existsSync(path.join(ROOT, volume.split(':')[0] ?? '')), volume);
  });

  it('runs commands that are in the image', async () => {
    const [, producer = ''] = get('producer').entrypoint ?? [];
    assert.match(producer, /^\/app\/.+\.js$/);
    assert.ok(existsSync(path.join(ROOT, producer.replace(/^\/app\//, ''))), producer);
    const dockerfile = await readFile(path.join(ROOT, 'Dockerfile'), 'utf8');
    const [, , check = ''] = get('sluice-1').healthcheck.test ?? [];
    assert.ok(dockerfile.includes(`"${check}"`), check);
  });
});

test(
  'with the services of compose.yaml, a browser behind nginx sees simulated events from Kafka',
  needs('kafka', 'redis', 'nginx'),
  async (t) => {
    const name = `compose-${process.pid}`;
    const settings = {
      KAFKA_BROKERS: kafkaBrokers(),
      REDIS_URL: redisUrl(),
      KAFKA_GROUP_ID: name,
      REDIS_PREFIX: `${name}:`,
    };
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
    /** As a page of this origin would. */
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

test('nginx hands a connection to another gateway when one refuses it', needs('nginx'), async (t) => {
  const GRAPH = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
  const [gone, gateway] = await Promise.all([startGateway(t, { GRAPH }), startGateway(t, { GRAPH })]);
  const { address } = await startNginx(t, [gone.port, gateway.port]);
  await gone.stop('SIGKILL');
  for (let round = 1; round <= 4; round += 1) {
    const client = graphqlClient(t, `ws://${address}/graphql`);
    const received = new Received(client, 'subscription { item { n } }');
    await gateway.untilMetric('sluice_subscribers', round);
    await gateway.postEvent('items', { id: 1, n: round });
    await received.until(1);
  }
  assert.equal(await gateway.metric('sluice_connections'), 4);
});
