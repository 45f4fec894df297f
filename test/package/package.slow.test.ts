import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { GraphQLSchema } from 'graphql';
import { Page } from '../docs/markdown.ts';
import { stagesOf } from '../helpers/deploy/dockerfile.ts';
import { buildStages } from '../helpers/deploy/image.ts';
import { GATEWAY_DEFAULTS, untilListening } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { postJson } from '../helpers/http-exchange.ts';
import { kafkaClient } from '../helpers/kafka-client.ts';
import { endItself, InstalledPackage, packed } from '../helpers/package/installed.ts';
import { NPM, PNPM, YARN } from '../helpers/package/managers.ts';
import { Sbom } from '../helpers/package/sbom.ts';
import { deployTool, needs, podSettings } from '../helpers/services.ts';
import { fileScope } from '../helpers/scope.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopic } from '../helpers/topic.ts';

/** graphql-config, as GraphQL Code Generator has it. */
const { loadConfig } = createRequire(createRequire(import.meta.url).resolve('@graphql-codegen/cli'))(
  'graphql-config',
) as {
  loadConfig: (options: { rootDir: string }) => Promise<{
    getDefault: () => { getSchema: () => Promise<GraphQLSchema> };
  }>;
};

const ROOT = path.join(import.meta.dirname, '../../..');
/** The bytes of all but the manual, compressed. */
const MAX_BYTES = 1_100_000;
const MAX_MANUAL_BYTES = 200_000;
/** The number of declarations that the types which users see may bring. */
const MAX_DECLARATIONS = 40;
const MAX_PACKAGES = 45;

const schema = (topic: string) => `
  type Subscription {
    order_placed(order_id: ID!): Order @event(topic: "${topic}", key: "order_id")
  }
`;
const GRAPH = {
  'graph/order.graphql': 'type Order { order_id: ID! total: Int gross: Float }',
  'graph/graph.ts': `
    import { defineGraph } from 'sluice';
    import { GraphQLError } from 'graphql';
    import { gross } from './tax.ts';

    interface Order { readonly total: number }

    export default defineGraph({
      resolvers: {
        Order: {
          gross: ({ total }: Order): number => {
            if (total < 0) throw new GraphQLError('no total');
            return gross(total);
          },
        },
      },
    });
  `,
  'graph/tax.ts': 'export const gross = (net: number): number => net * 1.19;',
  'graph/tax.test.ts': 'import "a package that is not there";',
};
const QUERY = 'subscription { order_placed(order_id: "7") { total gross } }';

/** That an event which comes by HTTP gets to a subscriber, through the graph's code. */
async function delivers(t: TestContext, child: Parameters<typeof untilListening>[0]): Promise<void> {
  const gateway = await untilListening(child);
  const received = new Received(graphqlClient(t, gateway.graphqlUrl), QUERY);
  await gateway.untilMetric('sluice_subscribers', 1);
  await gateway.postEvent('orders', { orderId: 7, total: 100 });
  await received.until(1);
  assert.deepEqual(received.results, [{ data: { order_placed: { total: 100, gross: 119 } } }]);
  await endItself(gateway);
}

/** The oldest of `engines`, where tests run by it, to that of the container image. */
const nodes = () => [process.execPath, deployTool('node-22'), deployTool('image-node')];

/** That npm neither refuses a package of the project for this Node.js nor warns of one. */
async function isInstallable(project: InstalledPackage, node: string): Promise<void> {
  const npm = ['env', `PATH=${path.dirname(node)}:${process.env['PATH']}`, 'npm'];
  const options = ['--engine-strict', '--dry-run', '--no-audit', '--no-fund'];
  const { stderr } = await project.exec([...npm, 'install', ...options]);
  assert.equal(stderr, '', node);
}

/** That the image which the project's compose.yaml describes can be made of its folder alone, and runs the graph. */
async function isBuilt(t: TestContext, { folder: context }: InstalledPackage): Promise<void> {
  const { services } = parse(await readFile(path.join(context, 'compose.yaml'), 'utf8'), { merge: true }) as {
    services: { gateway: { build: { dockerfile_inline: string } } };
  };
  const stages = stagesOf(services.gateway.build.dockerfile_inline);
  const folder = await temporaryFolder(t);
  // By its checksum, npm finds in its cache what is not in the folder.
  const env = { ...process.env, npm_config_cache: path.join(folder, 'cache') };
  const images = await buildStages(stages, { folder, context, images: new Map(), env });
  const [image] = [...images.values()];
  const { stdout } = await promisify(execFile)(image?.at(image.cmd[0] ?? '') ?? '', ['schema', 'graph'], {
    cwd: image?.at('.'),
  });
  assert.match(stdout, /order_changed/);
}

const scope = fileScope();

describe('the package', needs('image-node', 'node-22'), () => {
  let tarball: string;
  /** With npm, and without TypeScript. */
  let installed: InstalledPackage;

  before(async () => {
    tarball = await packed();
    installed = await InstalledPackage.with(scope, NPM);
    await installed.write({ ...GRAPH, 'graph/schema.graphql': schema('orders') });
  });

  /** Names of all packages that npm has installed, the package's own included. */
  const brought = async (): Promise<string[]> => {
    const { stdout } = await installed.exec(['npm', 'ls', '--all', '--parseable']);
    return stdout.split('\n').flatMap((line) => line.split('/node_modules/').slice(1).at(-1) ?? []);
  };

  it('is small, holds no sources and no tests but those of a new project, and brings few others', async () => {
    const { size } = await stat(tarball);
    const withoutManual = 'gzip -dc "$0" | tar --delete -f - package/docs package/deploy | gzip -9 | wc -c';
    const rest = Number((await promisify(execFile)('bash', ['-c', withoutManual, tarball])).stdout);
    assert.ok(rest > 0 && rest < MAX_BYTES, `${rest} bytes`);
    assert.ok(size - rest < MAX_MANUAL_BYTES, `${size - rest} bytes`);
    const { stdout: listed } = await promisify(execFile)('tar', ['-tzf', tarball]);
    const files = listed.trim().split('\n');
    const endings = new Set(files.map((file) => file.replace(/^.*?((\.d)?\.\w+|\/\w+)$/, '$1')));
    assert.deepEqual(
      [...endings].toSorted().join(' '),
      '.cjs .css .d.ts .graphql .html .js .json .md .ts .yaml /LICENSE /dockerignore /gitignore',
    );
    const sources = files.filter((file) => /(?<!\.d)\.ts$|\btest\//.test(file));
    const template = 'package/dist/src/cli/template/';
    assert.deepEqual(sources.toSorted(), [`${template}graph/graph.ts`, `${template}test/graph.test.js`]);
    const declarations = files.filter((file) => file.endsWith('.d.ts'));
    assert.ok(declarations.length <= MAX_DECLARATIONS, declarations.join(' '));
    const all = await brought();
    assert.ok(all.length <= MAX_PACKAGES, all.join(' '));
  });

  it('holds the manual, the dashboard and the alerts, and each link of a page leads to a page or file within, or to the web', async (t) => {
    const folder = await temporaryFolder(t);
    await promisify(execFile)('tar', ['-xzf', tarball, '-C', folder]);
    const files = await readdir(folder, { recursive: true });
    const pages = new Map<string, Page>();
    for (const name of files.filter((each) => each.endsWith('.md')))
      pages.set(name, await Page.read(path.relative(ROOT, path.join(folder, name))));
    const linked = new Set<string>();
    const broken: string[] = [];
    for (const [name, page] of pages) {
      for (const { target } of page.links.filter((link) => !/^[a-z]+:/.test(link.target))) {
        const [file = '', anchor] = target.split('#');
        const to = file === '' ? name : path.join(path.dirname(name), file);
        const hasAnchor = anchor === undefined || pages.get(to)?.anchors.has(anchor) === true;
        if (!files.includes(to) || !hasAnchor) broken.push(`${name}: ${target}`);
        linked.add(to);
      }
    }
    assert.deepEqual(broken, []);
    for (const name of [
      'docs/reference/settings.md',
      'deploy/grafana/dashboard.json',
      'deploy/prometheus/alerts.yaml',
    ])
      assert.ok(linked.has(`package/${name}`), name);
    assert.ok(linked.size > 60, `expected all links to be found, got ${linked.size}`);
  });

  it('is installed by npm, and each of its commands runs', async (t) => {
    assert.match((await installed.sluice('help')).stdout, /^sluice \[command\]/m);
    assert.match((await installed.sluice('schema')).stdout, /directive @event/);
    assert.match((await installed.sluice('config')).stdout, /^PORT=4000$/m);
    assert.match((await installed.sluice('check', 'graph')).stdout, /^0 errors, /m);
    await assert.rejects(installed.sluice('types', 'graph'), /npm install --save-dev @graphql-codegen\/core/);
    const { stdout } = await installed.sluice('build', 'graph', 'built');
    assert.deepEqual(stdout.match(/built\/\S+/g)?.toSorted(), [
      'built/graph.js',
      'built/order.graphql',
      'built/schema.graphql',
      'built/tax.js',
    ]);
    assert.match((await installed.sluice('dead-letters', '--help')).stdout, /^sluice dead-letters list/m);
    await delivers(t, installed.spawn(t, ['serve'], { ...GATEWAY_DEFAULTS, GRAPH: 'built' }));
  });

  it('is installed without a warning, and runs, on each Node.js from the oldest of `engines` to that of the container image', async (t) => {
    const cli = path.join(installed.folder, 'node_modules/sluice/dist/src/cli.js');
    for (const node of nodes()) {
      await isInstallable(installed, node);
      await delivers(t, installed.spawn(t, [cli], { ...GATEWAY_DEFAULTS, GRAPH: 'graph' }, [node]));
    }
  });

  it('has a list of what it consists of, which names what it brings and, by version, what is within', async () => {
    await installed.exec([process.execPath, path.join(ROOT, 'scripts/release/sbom.mjs'), 'sbom.cdx.json']);
    const sbom = await Sbom.read(path.join(installed.folder, 'sbom.cdx.json'));
    sbom.assertSound();
    const own = path.join(installed.folder, 'node_modules/sluice');
    const licences = await readFile(path.join(own, 'dist/vendor/LICENSES.md'), 'utf8');
    const within = [...licences.matchAll(/^## (\S+) (\d\S+) \(/gm)].map(
      ([, name, version]) => `${name}@${version}`,
    );
    assert.ok(within.length > 10, `packages within: ${within.length}`);
    assert.deepEqual(
      within.filter((each) => !sbom.packages.includes(each)),
      [],
    );
    for (const name of ['kafkajs', 'graphql-jit', 'graphql-redis-subscriptions', 'graphiql', 'react'])
      sbom.get(name);
    // npm may have found newer ones than those of yarn.lock.
    const all = await brought();
    assert.ok(all.length > 20, all.join(' '));
    assert.deepEqual(
      all.filter((name) => name !== 'sluice' && !sbom.names.has(name)),
      [],
    );
  });

  it('shows the demo where no graph is named, and none is there', async (t) => {
    await installed.remove('graph');
    t.after(() => installed.write({ ...GRAPH, 'graph/schema.graphql': schema('orders') }));
    const gateway = await untilListening(installed.spawn(t, [], GATEWAY_DEFAULTS));
    const page = await fetch(gateway.httpUrl, { headers: { accept: 'text/html' } });
    assert.match(await page.text(), /graphiql/);
    const query = 'subscription { property_update { asking_price { formatted } } }';
    const [result] = (await new Received(graphqlClient(t, gateway.graphqlUrl), query).until(1)).results;
    assert.equal(result?.errors, undefined);
    await endItself(gateway);
  });

  it('tells tools that read graphql-config which directives there are', async () => {
    const { stdout: directives } = await installed.sluice('schema');
    await installed.write({
      'sluice.graphql': directives,
      '.graphqlrc.yml': "schema: ['graph/*.graphql', 'sluice.graphql']",
    });
    const config = await loadConfig({ rootDir: installed.folder });
    const found = await config.getDefault().getSchema();
    assert.ok(found.getDirectives().some(({ name }) => name === 'event'));
  });

  it('begins a project by the commands of its page, whose tests and check pass, whose gateway reloads and prints the ways of events, and whose types are checked', async (t) => {
    const { blocks } = await Page.read('docs/guides/package.md');
    const lines = blocks.find(({ text }) => text.includes(' init '))?.text.split('\n') ?? [];
    const [, name = '', folder = ''] = /(sluice-\S+\.tgz) init (\S+)/.exec(lines[0] ?? '') ?? [];
    assert.match(lines.at(-1) ?? '', /^npx sluice dev /);
    const commands = lines.slice(0, -1).join('\n');
    const { begun: project, printed } = await InstalledPackage.begunBy(t, commands, name, folder);
    assert.match(printed, /pass 1\b/);
    assert.match((await project.exec(['npm', 'run', 'check'])).stdout, /^0 errors, 0 warnings$/m);
    for (const node of nodes()) await isInstallable(project, node);
    await isBuilt(t, project);
    const gateway = await untilListening(project.spawn(t, ['dev'], GATEWAY_DEFAULTS));
    await gateway.untilPrinted(`curl -X POST localhost:${gateway.port}/events/orders `);
    const client = graphqlClient(t, gateway.graphqlUrl);
    const watch = 'subscription Watch { order_changed(order_id: "7") { status total_with_tax } }';
    const watched = new Received(client, watch);
    await gateway.untilMetric('sluice_subscribers', 1);
    await gateway.postEvent('orders', { orderId: 7, status: 'PAID', totalAmount: 10 });
    await watched.until(1);
    await gateway.untilPrinted('orders #0 (published by hand)  order_id: 7  →  ');
    await gateway.untilPrinted('  order_changed: 1 subscriber of Watch, 1 execution');
    const file = path.join(project.folder, 'graph/schema.graphql');
    const changed = (await readFile(file, 'utf8')).replace(
      'status: String',
      'status: String\n  note: String',
    );
    await project.write({ 'graph/schema.graphql': changed });
    await gateway.untilLog(/the graph has been reloaded/);
    const noted = new Received(client, 'subscription { order_changed(order_id: "7") { note } }');
    await gateway.untilMetric('sluice_subscribers', 2);
    await gateway.postEvent('orders', { orderId: 7, status: 'SENT', totalAmount: 20, note: 'new' });
    await Promise.all([watched.until(2), noted.until(1)]);
    assert.deepEqual(watched.data, [
      { order_changed: { status: 'PAID', total_with_tax: 12 } },
      { order_changed: { status: 'SENT', total_with_tax: 24 } },
    ]);
    assert.deepEqual(noted.data, [{ order_changed: { note: 'new' } }]);
    assert.equal(await gateway.metric('sluice_connections'), 1);
    await endItself(gateway);

    // A property that the schema does not have, by the types that were made of it.
    const code = await readFile(path.join(project.folder, 'graph/graph.ts'), 'utf8');
    await project.write({ 'graph/graph.ts': code.replace('({ total_amount })', '({ totl })') });
    await assert.rejects(project.sluice('check', 'graph'), ({ stdout }: { stdout: string }) => {
      assert.match(stdout, /^graph\/graph\.ts:9:\d+: error: Property 'totl' does not exist/m);
      return true;
    });
  });

  it('goes into a project that `npm start -- init` begins in a checkout', async (t) => {
    const folder = path.join(await temporaryFolder(t), 'shop');
    const start = path.join(ROOT, 'scripts/start.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, [start, 'init', folder]);
    const [, name = ''] = /\/shop\/(sluice-\S+\.tgz)$/m.exec(stdout) ?? [];
    const { stdout: listed } = await promisify(execFile)('tar', ['-tzf', path.join(folder, name)]);
    assert.match(listed, /^package\/dist\/src\/cli\.js$/m);
    assert.match(await readFile(path.join(folder, 'package.json'), 'utf8'), RegExp(`"file:${name}"`));
  });

  for (const KAFKA_DRIVER of ['kafkajs', 'platformatic']) {
    const title = `consumes Kafka with ${KAFKA_DRIVER}, which it carries, compressed records too, over Redis`;
    it(title, needs('kafka', 'redis'), async (t) => {
      const topic = await createTopic(t);
      await installed.write({ ...GRAPH, 'graph/schema.graphql': schema(topic) });
      const settings = { ...GATEWAY_DEFAULTS, ...podSettings(topic), GRAPH: 'graph', KAFKA_DRIVER };
      const gateway = await untilListening(installed.spawn(t, ['serve'], settings));
      await gateway.untilReady();
      const received = new Received(graphqlClient(t, gateway.graphqlUrl), QUERY);
      await gateway.untilMetric('sluice_subscribers', 1);
      const producer = kafkaClient().producer();
      await producer.connect();
      t.after(() => producer.disconnect());
      for (const compression of [0, 1]) {
        const value = JSON.stringify({ orderId: 7, total: 100 + compression });
        await producer.send({ topic, compression, messages: [{ key: '7', value }] });
      }
      await received.until(2);
      assert.deepEqual(
        received.data,
        [100, 101].map((total) => ({ order_placed: { total, gross: total * 1.19 } })),
      );
      await endItself(gateway);
    });
  }

  it('tells clients what is wrong where the project has another graphql than it brings', async (t) => {
    const other = await InstalledPackage.with(t, NPM, ['graphql@17']);
    await other.write({ ...GRAPH, 'graph/schema.graphql': schema('orders') });
    const gateway = await untilListening(other.spawn(t, ['serve'], { ...GATEWAY_DEFAULTS, GRAPH: 'graph' }));
    const unknown = new Received(graphqlClient(t, gateway.graphqlUrl), 'subscription { no_such }');
    const { body } = await postJson(`${gateway.httpUrl}/graphql`, { query: '{ no_such }' });
    for (const told of [JSON.stringify(await unknown.untilEnd()), body])
      assert.match(told, /Cannot query field \\"no_such\\"/);
    await endItself(gateway);
  });

  for (const manager of [PNPM, YARN]) {
    it(`is installed by ${manager.name} beside nothing but TypeScript, finds no wrong types there, and serves`, async (t) => {
      const other = await InstalledPackage.with(t, manager, ['typescript', '@types/node']);
      const compilerOptions = { target: 'ES2023', module: 'NodeNext', types: ['node'], strict: true };
      await other.write({
        ...GRAPH,
        'graph/schema.graphql': schema('orders'),
        'graph/package.json': '{"type":"module"}',
        'tsconfig.json': JSON.stringify({ compilerOptions }),
      });
      assert.match((await other.sluice('check', 'graph')).stdout, /^0 errors, /m);
      await delivers(t, other.spawn(t, ['serve'], { ...GATEWAY_DEFAULTS, GRAPH: 'graph' }));
    });
  }
});
