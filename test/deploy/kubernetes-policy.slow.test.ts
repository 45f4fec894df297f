import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { faultsOf, KUBERNETES, Overlay } from '../helpers/deploy/kubernetes.ts';
import { needs } from '../helpers/services.ts';
import { isExampleValue } from './example-value.ts';
import { judge } from './policy/policy.ts';

const CLI = path.join(import.meta.dirname, 'policy/cli.js');

/** Settings with which each component is to be used. */
const COMPONENTS: Readonly<Record<string, readonly string[]>> = {
  'graph-config-map': [],
  'kafka-tls': ['KAFKA_BROKERS=kafka-0.kafka.shop.svc:9093,kafka-1.kafka.shop.svc:9093'],
  'public-https': ['AUTH_JWKS_URL=https://login.example.com/jwks.json', 'AUTH_AUDIENCE=shop'],
  'redis-cluster': ['REDIS_CLUSTER=redis-0.redis.shop.svc:6379,redis-1.redis.shop.svc:6379'],
  'redis-sentinel': ['REDIS_SENTINELS=redis:26379', 'REDIS_SENTINEL_MASTER=mymaster'],
  'redis-tls': ['REDIS_URL=rediss://redis:6380'],
  tls: [],
  tracing: [],
};

/** A kustomization of one's own, on the base. */
const onBase = (t: TestContext, components: readonly string[], literals: readonly string[]) =>
  Overlay.of(t, {
    namespace: 'sluice',
    resources: ['../kubernetes/base'],
    components: components.map((name) => `../kubernetes/components/${name}`),
    images: [{ name: 'sluice', newTag: '0.1.0' }],
    configMapGenerator: [
      ...(components.includes('graph-config-map')
        ? [{ name: 'sluice-graph', literals: ['schema.graphql=type Query { a: String }'] }]
        : []),
      { name: 'sluice-settings', behavior: 'merge', literals },
    ],
  });

describe('the policy', needs('kubectl', 'kubernetes-validate'), () => {
  it('holds for the overlay dev, which has no example values', async () => {
    const overlay = await Overlay.build(path.join(KUBERNETES, 'overlays/dev'));
    assert.deepEqual(judge(overlay.manifests).faults, []);
    assert.deepEqual(await faultsOf(overlay), []);
  });

  for (const name of ['base', 'overlays/production']) {
    it(`holds for ${name}, but for values that have to be replaced, which it names`, async () => {
      const overlay = await Overlay.build(path.join(KUBERNETES, name));
      assert.deepEqual(judge(overlay.manifests, { examples: true }).faults, []);
      assert.ok(judge(overlay.manifests, { examples: true }).notes.some(isExampleValue));
      const { faults } = judge(overlay.manifests);
      assert.ok(faults.length > 0 && faults.every(isExampleValue), faults.join('\n'));
      assert.deepEqual(judge(overlay.filledIn().manifests).faults, []);
      assert.deepEqual(await faultsOf(overlay.filledIn()), []);
    });
  }

  it('is tried on all overlays, examples and components', async () => {
    assert.deepEqual(await readdir(path.join(KUBERNETES, 'overlays')), ['dev', 'production']);
    assert.deepEqual(await readdir(path.join(KUBERNETES, 'components')), Object.keys(COMPONENTS));
    assert.deepEqual(await readdir(KUBERNETES), ['base', 'components', 'examples', 'overlays']);
  });

  for (const [name, literals] of Object.entries(COMPONENTS)) {
    it(`holds for the component ${name} with the settings that it is for, and the schemas hold`, async (t) => {
      const overlay = await onBase(t, [name], literals);
      assert.deepEqual(judge(overlay.manifests).faults, []);
      assert.deepEqual(await faultsOf(overlay), []);
    });
  }

  for (const name of ['redis-cluster', 'redis-sentinel']) {
    it(`names the setting that the component ${name} is for, where it is forgotten`, async (t) => {
      const { faults, notes } = judge((await onBase(t, [name], [])).manifests);
      assert.match(faults.join('\n'), /egress of TCP \d+ is open for .*, and no setting uses that/);
      const without = /without one of REDIS_URL, REDIS_SENTINELS, REDIS_CLUSTER each pod reads all events/;
      assert.match(notes.join('\n'), without);
    });
  }

  it('lets pods through to a Redis Cluster over TLS, and not to another Redis', async (t) => {
    const literals = ['REDIS_CLUSTER=redis-0.redis.shop.svc:6380', 'REDIS_TLS=true'];
    const { manifests } = await onBase(t, ['redis-cluster', 'redis-tls'], literals);
    assert.deepEqual(judge(manifests).faults, []);
    const policy = manifests.find(({ metadata }) => metadata.name === 'sluice-redis');
    const open = JSON.stringify(policy?.['spec']);
    assert.match(open, /"app.kubernetes.io\/name":"redis-cluster"/);
    assert.doesNotMatch(open, /"app.kubernetes.io\/name":"redis"|6379/);
  });

  it('misses the settings of the component kafka-tls, where nothing uses what it opens', async (t) => {
    const { faults } = judge((await onBase(t, ['kafka-tls'], [])).manifests);
    assert.match(faults.join('\n'), /is open for .*, and no setting uses that/);
  });

  for (const name of ['kafka-tls', 'redis-sentinel']) {
    it(`misses the component ${name} where only its settings are there`, async (t) => {
      const { faults } = judge((await onBase(t, [], COMPONENTS[name] ?? [])).manifests);
      assert.match(faults.join('\n'), /expected egress of TCP \d+ to be open, and it is closed/);
    });
  }
});

const policy = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [CLI, ...args]).catch(
    (error: Error & { stdout: string; stderr: string; code: number }) => error,
  );

describe('npm run policy', needs('kubectl'), () => {
  it('prints each fault and note, and fails on faults', async () => {
    const folder = path.join(KUBERNETES, 'overlays/production');
    const refused = await policy(folder);
    assert.ok('code' in refused && refused.code === 1);
    assert.match(
      refused.stdout,
      /^fault: Deployment sluice: expected a value of yours at .*REPLACE-WITH-REGISTRY$/m,
    );
    const taken = await policy('--examples', folder);
    assert.ok(!('code' in taken), taken.stdout);
    assert.match(taken.stdout, /^note: .*REPLACE-WITH-REGISTRY; this is an example$/m);
    assert.match(taken.stdout, /overlays\/production: 0 faults\n$/);
  });

  it('says why there are no manifests', async () => {
    for (const [place, reason] of [
      [path.join(KUBERNETES, 'components'), /^\/.*components: .*unable to find one of 'kustomization\.yaml'/],
      ['no-such-folder', /^no-such-folder: ENOENT/],
    ] as const) {
      const said = await policy(place);
      assert.ok('code' in said && said.code === 1);
      assert.match(said.stderr, reason);
    }
  });

  it('says how it is used, without arguments and with others', async () => {
    for (const [args, reason] of [
      [[], /^/],
      [['--help'], /^Unknown option '--help'/],
    ] as const) {
      const said = await policy(...args);
      assert.ok('code' in said && said.code === 2);
      assert.match(said.stderr, reason);
      assert.match(said.stderr, /^npm run -s policy -- \[--examples\]/m);
    }
  });
});
