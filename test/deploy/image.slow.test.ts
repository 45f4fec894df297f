import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { access, chmod, cp, mkdir, mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it, type TestContext } from 'node:test';
import { GATEWAY_DEFAULTS, untilListening, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { disconnectAfter, kafkaClient } from '../helpers/kafka-client.ts';
import { OtlpCollector } from '../helpers/otlp-collector.ts';
import { kafkaBrokers, needs } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';
import { BuiltImages } from '../helpers/deploy/built-image.ts';
import { Sbom } from '../helpers/package/sbom.ts';
import { stagesOf } from '../helpers/deploy/dockerfile.ts';
import { contentOf, type Image } from '../helpers/deploy/image.ts';

/** The build installs twice: that takes minutes where the network or the machine is slow. */
const BUILD_TIMEOUT_MS = 900_000;
const MIB = 1024 * 1024;
const ROOT = path.join(import.meta.dirname, '../../..');

interface Package {
  readonly name: string;
  readonly version: string;
}

/** `name@version` of each package below a node_modules: a version may be there in several places. */
async function packagesIn(folder: string): Promise<Set<string>> {
  const manifests = (await readdir(folder, { recursive: true })).filter((file) =>
    /(^|\/node_modules\/)(@[^/]+\/)?[^@/]+\/package\.json$/.test(file),
  );
  const read = manifests.map(async (file) => {
    const { name, version } = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as Package;
    return `${name}@${version}`;
  });
  return new Set(await Promise.all(read));
}

describe('the container image', { skip: needs('image-node').skip }, () => {
  let images: BuiltImages;
  let image: Image;

  before(
    async () => {
      images = await BuiltImages.build();
      image = images.gateway;
    },
    { timeout: BUILD_TIMEOUT_MS },
  );
  after(() => images.remove());

  const start = (
    t: TestContext,
    settings: Readonly<Record<string, string>> = {},
    of = image,
  ): Promise<GatewayProcess> =>
    untilListening(images.spawn(t, of, [...of.entrypoint, ...of.cmd], { ...GATEWAY_DEFAULTS, ...settings }));

  /** MB, of the old generation and the young. @param files as the kernel shows them of the control group */
  const heapLimit = async (
    t: TestContext,
    files: Readonly<Record<string, string>>,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<number> => {
    const folder = await mkdtemp(path.join(images.folder, 'cgroup-'));
    await chmod(folder, 0o755);
    await mkdir(path.join(folder, 'memory'));
    for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
    const gateway = await start(t, { CGROUP_FOLDER: folder, ...settings });
    const limit = await gateway.metric('sluice_heap_limit_bytes');
    await gateway.stop();
    return limit / MIB;
  };

  it('runs the Dockerfile’s commands as a user who is not root, without GraphiQL', async (t) => {
    const gateway = await start(t);
    const [program] = (await readFile(`/proc/${gateway.child.pid}/cmdline`, 'utf8')).split('\0');
    assert.equal(program, 'node', 'what gets the signals');
    assert.equal((await fetch(gateway.httpUrl, { headers: { accept: 'text/html' } })).status, 404);
    assert.match(image.user ?? '', /^[1-9]\d*:[1-9]\d*$/);
    if (process.getuid?.() !== 0) return;
    const status = await readFile(`/proc/${gateway.child.pid}/status`, 'utf8');
    assert.match(status, new RegExp(`^Uid:\\s+${image.user?.split(':')[0]}\\s`, 'm'));
  });

  it('serves the bundled graph, GraphiQL if it is to, writes nothing, and ends with 0 on SIGTERM', async (t) => {
    const content = await contentOf(image.folder);
    const gateway = await start(t, { GRAPHIQL: 'true' });
    await gateway.untilReady();
    assert.equal((await fetch(`${gateway.adminUrl}/livez`)).status, 200);
    const page = await fetch(gateway.httpUrl, { headers: { accept: 'text/html' } });
    const files = [...(await page.text()).matchAll(/(?:src|href)="(graphiql\/[^"]+)"/g)];
    assert.ok(files.length >= 4, `files of GraphiQL: ${files.length}`);
    for (const [, file] of files) assert.equal((await fetch(`${gateway.httpUrl}/${file}`)).status, 200, file);
    const query = 'subscription { property_update { asking_price { formatted } agent_contact { email } } }';
    const received = await new Received(graphqlClient(t, gateway.graphqlUrl), query).until(2);
    assert.ok(received.results.every(({ errors }) => errors === undefined));
    assert.equal(await gateway.stop('SIGTERM'), 0);
    assert.deepEqual(await contentOf(image.folder), content);
  });

  it('has one release of Node.js 24, whose version is named in full', async () => {
    const dockerfile = await readFile(path.join(ROOT, 'Dockerfile'), 'utf8');
    const bases = stagesOf(dockerfile).map(({ from }) => from);
    assert.match(bases[0] ?? '', /^node:24\.\d+\.\d+-/);
    assert.deepEqual(new Set(bases), new Set([bases[0]]));
  });

  it('holds production dependencies only, and no tests', async () => {
    const { dependencies } = JSON.parse(await readFile(image.at('package.json'), 'utf8')) as {
      dependencies: object;
    };
    const installed = await readdir(image.at('node_modules'));
    for (const name of Object.keys(dependencies)) await access(path.join(image.at('node_modules'), name));
    for (const name of ['typescript', 'graphiql', 'react', 'playwright-core', '.installed']) {
      assert.ok(!installed.includes(name), name);
    }
    assert.deepEqual(await readdir(path.join(image.at('node_modules'), '@babel')), ['standalone']);
    const built = ['babel-plugins', 'examples', 'graphiql', 'src'];
    assert.deepEqual((await readdir(image.at('dist'))).toSorted(), built);
  });

  it('sends traces, by variables alone', async (t) => {
    const collector = await OtlpCollector.start(t);
    const gateway = await start(t, collector.settings);
    await gateway.postEvent('bids', { auctionId: 'auction-1' });
    const [span] = await collector.until(1);
    assert.equal(span?.resource['service.name'], 'sluice');
  });

  it('lists what it consists of: each package in its version, the patched one, and what browsers load', async () => {
    const sbom = await Sbom.read(image.at('sbom.cdx.json'));
    sbom.assertSound();
    const { name, version } = JSON.parse(await readFile(image.at('package.json'), 'utf8')) as Package;
    const { component } = sbom.document.metadata;
    assert.deepEqual([component.name, component.version], [name, version]);
    const installed = await packagesIn(image.at('node_modules'));
    assert.ok(installed.size > 50, `packages: ${installed.size}`);
    const ofBrowsers = ['graphiql', 'react', 'react-dom'].map((each) => `${each}@${sbom.get(each).version}`);
    assert.deepEqual(sbom.packages, [...installed, ...ofBrowsers].toSorted());
    const [patch] = sbom.get('kafkajs').pedigree?.patches ?? [];
    assert.ok(patch !== undefined && existsSync(path.join(ROOT, patch.diff.url)));
  });

  it('has a health check that fails when no gateway answers, and one for readiness that fails while the pod is not ready', async (t) => {
    const check = async (settings: Record<string, string>, words = image.healthcheck): Promise<unknown> =>
      (await once(images.spawn(t, image, words, settings), 'exit'))[0];
    const gateway = await start(t, { KAFKA_BROKERS: '127.0.0.1:1' });
    const settings = { ADMIN_PORT: String(gateway.adminPort) };
    assert.equal(await check(settings), 0);
    const readiness = [...image.healthcheck.slice(0, -1), '/readyz'];
    assert.equal(await check(settings, readiness), 1);
    await gateway.stop();
    assert.equal(await check(settings), 1);
  });

  it('runs the other commands of the gateway, too', async (t) => {
    const child = images.spawn(t, image, [...image.entrypoint, 'config'], { PORT: '1234' });
    assert.match(await text(child.stdout), /^PORT=1234$/m);
  });

  it('takes a graph that is copied in, with TypeScript', async (t) => {
    const example = path.join(ROOT, 'examples/auction');
    const folder = await graphFolder(t, {});
    await cp(example, folder, { recursive: true });
    await chmod(folder, 0o755);
    const own = await images.withGraph(folder);
    assert.ok(!existsSync(own.at('graph/graph.js')));
    const gateway = await start(t, {}, own);
    const subscription = 'subscription { bid_placed(auction_id: "a") { amount { formatted } } }';
    const received = new Received(graphqlClient(t, gateway.graphqlUrl), subscription);
    await gateway.untilMetric('sluice_subscribers', 1);
    await gateway.postEvent('bids', { auctionId: 'a', amount: { value: 5, currency: 'EUR' } });
    await received.until(1);
    assert.deepEqual(received.results[0], { data: { bid_placed: { amount: { formatted: '€5' } } } });
  });

  it('makes the topics of a graph that Kafka does not have yet', needs('kafka'), async (t) => {
    const existing = await createTopic(t, { partitions: 3 });
    const topic = `${existing}-new`;
    const folder = await graphFolder(t, {
      'schema.graphql': `
        type Subscription { tick: Tick @event(topic: "${topic}") tock: Tick @event(topic: "${existing}") }
        type Tick { n: Int }
      `,
      // Of a gateway, which goes on; this must end.
      'graph.js': `
        import { defineGraph } from 'sluice';
        setInterval(() => {}, 1000);
        export default defineGraph({});
      `,
    });
    await chmod(folder, 0o755);
    const settings = { KAFKA_BROKERS: kafkaBrokers(), GRAPH: folder };
    // The second time there is nothing left to do, as when compose starts again.
    for (const _ of ['first', 'second']) {
      const child = images.spawn(t, image, ['node', '/app/topics.mjs'], settings);
      const [[code], said] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
      assert.equal(code, 0, said);
    }
    const admin = kafkaClient().admin();
    await admin.connect();
    disconnectAfter(t, admin);
    const { topics } = await admin.fetchTopicMetadata({ topics: [existing, topic] });
    assert.deepEqual(Object.fromEntries(topics.map(({ name, partitions }) => [name, partitions.length])), {
      [existing]: 3,
      [topic]: 6,
    });
  });

  describe('its heap limit', () => {
    const LIMITED = { 'memory.max': `${600 * MIB}\n` };

    it('is half of the memory limit, plus the young generation', async (t) => {
      for (const files of [LIMITED, { 'memory/memory.limit_in_bytes': `${600 * MIB}\n` }])
        assert.equal(await heapLimit(t, files), 300 + 48);
    });

    it('is V8’s own where there is no memory limit', async (t) => {
      const script = 'process.stdout.write(String(v8.getHeapStatistics().heap_size_limit))';
      const own = Number(await text(images.spawn(t, image, ['node', '-e', script], {}).stdout)) / MIB;
      const unlimited = { 'memory/memory.limit_in_bytes': '9223372036854771712\n' };
      for (const files of [{ 'memory.max': 'max\n' }, unlimited, {}])
        assert.equal(await heapLimit(t, files), own);
    });

    it('is the one in NODE_OPTIONS, if there is one', async (t) => {
      for (const [NODE_OPTIONS, limit] of [
        ['--max-old-space-size=200', 200 + 48],
        ['--max-semi-space-size=32', 300 + 96],
        ['--no-warnings', 300 + 48],
      ] as const)
        assert.equal(await heapLimit(t, LIMITED, { NODE_OPTIONS }), limit, NODE_OPTIONS);
    });
  });
});
