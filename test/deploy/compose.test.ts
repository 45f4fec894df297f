import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test, { before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { checkGraph } from '../../src/graph/loader/check-graph.ts';
import { spawnFor } from '../helpers/child-process.ts';
import { freePort } from '../helpers/free-port.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { disconnectAfter } from '../helpers/kafka-client.ts';
import { kcat } from '../helpers/kcat.ts';
import { startNginx } from '../helpers/nginx.ts';
import { startBroker } from '../helpers/own-kafka.ts';
import { kafkaBrokers, needs, redisUrl } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopics } from '../helpers/topic.ts';

/** What the Dockerfile sets. */
const IMAGE = { NODE_ENV: 'production' };

const ROOT = path.join(import.meta.dirname, '../../..');

interface Bind {
  readonly type: string;
  readonly source: string;
  readonly target: string;
  readonly read_only: boolean;
  readonly bind: { readonly create_host_path: boolean };
}

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly entrypoint?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly (string | Bind)[];
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
    assert.equal(volumes.length, 1);
    for (const volume of volumes) {
      assert.ok(existsSync(path.join(ROOT, String(volume).split(':')[0] ?? '')), String(volume));
    }
  });

  it('serves the graph in the folder that GRAPH names, else the bundled one, and can change neither', async () => {
    // The producer is of the bundled graph.
    for (const name of ['sluice-1', 'sluice-2', 'topics']) {
      const { environment = {}, volumes = [] } = get(name);
      const [graph, ...others] = volumes as readonly Bind[];
      assert.ok(graph !== undefined && others.length === 0, name);
      assert.equal(graph.type, 'bind');
      assert.equal(graph.target, environment['GRAPH']);
      assert.equal(graph.read_only, true);
      assert.equal(graph.bind.create_host_path, false, 'a folder that is misspelt is an error');
      assert.equal(interpolated(graph.source, { GRAPH: '../my-graph' }), '../my-graph');
      const errors = (await checkGraph(path.join(ROOT, interpolated(graph.source, {})))).filter(
        ({ severity }) => severity === 'error',
      );
      assert.deepEqual(errors, []);
    }
  });

  it('makes the topics before it starts the gateways, which make none', () => {
    for (const name of ['sluice-1', 'sluice-2']) {
      assert.equal(get(name).depends_on?.['topics']?.condition, 'service_completed_successfully');
    }
    assert.deepEqual(get('topics').depends_on, { kafka: { condition: 'service_healthy' } });
  });

  it('has Kafka send clients back to where they came from: containers, and programs of this machine', () => {
    const { environment = {}, ports = [] } = get('kafka');
    const listeners = addresses(environment['KAFKA_LISTENERS']);
    const advertised = addresses(environment['KAFKA_ADVERTISED_LISTENERS']);
    const protocols = addresses(environment['KAFKA_LISTENER_SECURITY_PROTOCOL_MAP']);
    assert.deepEqual(Object.keys(protocols).toSorted(), Object.keys(listeners).toSorted());
    const controller = environment['KAFKA_CONTROLLER_LISTENER_NAMES'] ?? '';
    const forClients = Object.keys(listeners).filter((name) => name !== controller);
    assert.deepEqual(Object.keys(advertised), forClients);
    // On all addresses of the container.
    for (const name of forClients) assert.equal(listeners[name], `:${portOf(advertised[name])}`);
    assert.equal(advertised[environment['KAFKA_INTER_BROKER_LISTENER_NAME'] ?? ''], 'kafka:9092');
    for (const name of ['sluice-1', 'sluice-2', 'topics', 'producer']) {
      assert.equal(get(name).environment?.['KAFKA_BROKERS'], 'kafka:9092');
    }
    const published = Object.values(advertised).filter((address) => address !== 'kafka:9092');
    assert.deepEqual(
      ports,
      published.map((address) => `${address}:${portOf(address)}`),
    );
    assert.deepEqual(published, ['127.0.0.1:9094']);
  });

  it(
    'with its settings of Kafka, kcat on this machine produces by the published port',
    needs('kafka-jars', 'kcat'),
    async (t) => {
      const { environment = {}, ports: [published = ''] = [] } = get('kafka');
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
      const admin = client.admin();
      await admin.connect();
      disconnectAfter(t, admin);
      await createTopics(admin, [{ topic: 'orders' }]);
      await kcat(t, 'orders', [{ key: '7', value: '{"orderId":7}' }], 'none', address);
      assert.deepEqual(
        (await admin.fetchTopicOffsets('orders')).map(({ high }) => high),
        ['1'],
      );
    },
  );

  it('runs commands that are in the image', async () => {
    const dockerfile = await readFile(path.join(ROOT, 'Dockerfile'), 'utf8');
    const [, producer = ''] = get('producer').entrypoint ?? [];
    assert.match(producer, /^\/app\/.+\.js$/);
    assert.ok(existsSync(path.join(ROOT, producer.replace(/^\/app\//, ''))), producer);
    const [, topics = ''] = get('topics').entrypoint ?? [];
    assert.ok(dockerfile.includes(` ${topics.replace('/app/', 'deploy/container/')} `), topics);
    const [, check = ''] = get('sluice-1').healthcheck.test ?? [];
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

/** As compose puts variables of the shell, or a default, into the file. */
function interpolated(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+):-([^}]*)\}/g, (_, name: string, or: string) => variables[name] || or);
}

/** 'A://host:1,B://:2', or 'A:B' in place of addresses → by name */
function addresses(listeners = ''): Record<string, string> {
  return Object.fromEntries(listeners.split(',').map((each) => each.split(/:(?:\/\/)?(.*)/)));
}

/** Of 'host:port', the last one. */
function portOf(address = ''): string {
  return address.split(':').at(-1) ?? '';
}
