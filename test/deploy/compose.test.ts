import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { checkGraph } from '../../src/graph/loader/check-graph.ts';
import { composeServices, portOf, type Bind, type Service } from '../helpers/deploy/compose.ts';

/** What the Dockerfile sets. */
const IMAGE = { NODE_ENV: 'production' };

const ROOT = path.join(import.meta.dirname, '../../..');

describe('compose.yaml', () => {
  let services: Record<string, Service>;
  const get = (name: string): Service => {
    const service = services[name];
    if (service === undefined) throw new Error(`Expected a service ${name}, got ${Object.keys(services)}.`);
    return service;
  };

  before(async () => {
    services = await composeServices();
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

/** Puts variables of the shell, or a default, into the file as compose does. */
function interpolated(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+):-([^}]*)\}/g, (_, name: string, or: string) => variables[name] || or);
}

/** 'A://host:1,B://:2', or 'A:B' in place of addresses → by name */
function addresses(listeners = ''): Record<string, string> {
  return Object.fromEntries(listeners.split(',').map((each) => each.split(/:(?:\/\/)?(.*)/)));
}
