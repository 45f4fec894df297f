import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { parse } from 'yaml';
import { GATEWAY_DEFAULTS, runCli, startGateway } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kafkaClient } from '../helpers/kafka-client.ts';
import { needs, podSettings } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopic } from '../helpers/topic.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

const read = async <T>(file: string): Promise<T> => parse(await readFile(file, 'utf8'), { merge: true }) as T;

interface Compose {
  readonly services: Readonly<Record<string, object>> & { gateway: { environment: Record<string, string> } };
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly dependencies: object;
}

test('sluice init writes a project whose graph the check takes, and prints its files and what comes next', async (t) => {
  const parent = await temporaryFolder(t);
  const folder = path.join(parent, 'My graph!');
  const { code, stdout } = await runCli(t, ['init', folder]);
  assert.equal(code, 0);
  const [files, next] = stdout.split('\n\n');
  assert.deepEqual(
    files?.split('\n').map((file) => path.relative(folder, file)),
    [
      'README.md',
      'compose.yaml',
      '.gitignore',
      'graph/graph.ts',
      'graph/schema.graphql',
      'package.json',
      'test/graph.test.js',
      'tsconfig.json',
    ],
  );
  assert.match(next ?? '', /^Next: cd .* && npm install && npm run types && npm test && npx sluice dev\n$/);
  const { name, dependencies } = await read<Package>(path.join(folder, 'package.json'));
  const { version } = await read<Package>(path.join(ROOT, 'package.json'));
  assert.deepEqual({ name, dependencies }, { name: 'my-graph', dependencies: { sluice: `^${version}` } });
  const checked = await runCli(t, ['check', path.join(folder, 'graph')]);
  assert.equal(checked.stdout, '0 errors, 0 warnings\n');
});

test('a project in a folder with the name of the package is installable, since it has another name', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'sluice');
  await runCli(t, ['init', folder]);
  const { name } = await read<Package>(path.join(folder, 'package.json'));
  assert.equal(name, 'graph');
});

test('sluice init refuses a folder that holds anything, and a file, and changes nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const file = path.join(folder, 'package.json');
  await writeFile(file, '{}');
  const held = await runCli(t, ['init', folder]);
  assert.equal(held.code, 1);
  assert.equal(
    held.stderr,
    `sluice: expected a new or an empty folder, got ${folder} with package.json; name another one: sluice init <folder>\n`,
  );
  const isFile = await runCli(t, ['init', file]);
  assert.equal(isFile.code, 1);
  assert.match(isFile.stderr, /^sluice: expected a new or an empty folder: ENOTDIR/);
  assert.equal(await readFile(file, 'utf8'), '{}');
});

test("the project's compose.yaml has the Kafka and the Redis of the repository's", async () => {
  const [own, template] = [
    await read<Compose>(path.join(ROOT, 'compose.yaml')),
    await read<Compose>(path.join(ROOT, 'src/cli/template/compose.yaml')),
  ];
  for (const name of ['kafka', 'redis']) assert.deepEqual(template.services[name], own.services[name]);
});

test(
  "the project's graph works with Kafka and Redis as its compose.yaml sets the gateway up",
  needs('kafka', 'redis'),
  async (t) => {
    const folder = path.join(await temporaryFolder(t), 'project');
    await runCli(t, ['init', folder]);
    const { gateway } = (await read<Compose>(path.join(folder, 'compose.yaml'))).services;
    const topic = await createTopic(t);
    const schema = path.join(folder, 'graph/schema.graphql');
    await writeFile(schema, (await readFile(schema, 'utf8')).replace('"orders"', `"${topic}"`));
    const pod = await startGateway(t, {
      ...gateway.environment,
      ...podSettings(topic),
      ...GATEWAY_DEFAULTS,
      GRAPH: path.join(folder, 'graph'),
    });
    await pod.untilReady();
    const query = 'subscription { order_changed(order_id: "7") { total_with_tax } }';
    const received = new Received(graphqlClient(t, pod.graphqlUrl), query);
    await pod.untilMetric('sluice_subscribers', 1);
    const producer = kafkaClient().producer();
    await producer.connect();
    t.after(() => producer.disconnect());
    await producer.send({ topic, messages: [{ value: '{"orderId":7,"totalAmount":12.5}' }] });
    await received.until(1);
    assert.deepEqual(received.data, [{ order_changed: { total_with_tax: 15 } }]);
  },
);
