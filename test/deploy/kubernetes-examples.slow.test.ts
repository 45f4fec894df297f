import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { loadConfig } from '../../src/config/config.ts';
import { checkGraph } from '../../src/graph/loader/check-graph.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { needs } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { faultsOf, filledIn, KUBERNETES, Overlay } from '../helpers/deploy/kubernetes.ts';
import { isExampleValue } from './example-value.ts';
import { judge } from './policy/policy.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

/** An example as a user has it: copied, beside the folder of Sluice, with their own values. */
class Copy {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async of(t: TestContext, example: string): Promise<Copy> {
    const parent = await temporaryFolder(t);
    await symlink(ROOT, path.join(parent, 'sluice'));
    const copy = new Copy(path.join(parent, 'my-cluster'));
    await cp(path.join(KUBERNETES, 'examples', example), copy.folder, { recursive: true });
    await cp(copy.#at('credentials.env.example'), copy.#at('credentials.env'));
    return copy;
  }

  /** With all values put in. */
  static async filledIn(t: TestContext, example: string): Promise<Copy> {
    const copy = await Copy.of(t, example);
    for (const file of ['kustomization.yaml', 'network-policy.yaml', 'credentials.env'])
      await copy.edit(file, filledIn);
    return copy;
  }

  async edit(file: string, change: (text: string) => string): Promise<void> {
    const before = await readFile(this.#at(file), 'utf8');
    const after = change(before);
    assert.notEqual(after, before, file);
    await writeFile(this.#at(file), after);
  }

  build(): Promise<Overlay> {
    return Overlay.build(this.folder);
  }

  #at(file: string): string {
    return path.join(this.folder, file);
  }
}

/** The first example value in each. */
const LEFT = {
  KAFKA_BROKERS: 'REPLACE-WITH-BROKER',
  ORIGINS: 'REPLACE-WITH-SITE',
  REDIS_URL: 'REPLACE-WITH-PASSWORD',
  KAFKA_SASL_USERNAME: 'REPLACE-WITH-USER',
  KAFKA_SASL_PASSWORD: 'REPLACE-WITH-PASSWORD',
};

for (const example of await readdir(path.join(KUBERNETES, 'examples'))) {
  describe(`the example ${example}`, needs('kubectl', 'kubernetes-validate'), () => {
    it('fits the schemas once its values are filled in, and gives pods settings and credentials that a gateway takes', async (t) => {
      const overlay = await (await Copy.filledIn(t, example)).build();
      assert.deepEqual(await faultsOf(overlay), []);
      assert.match(overlay.container.image, /^registry\.example\.com\/[a-z-]+:\d+\.\d+\.\d+$/);
      const { environment, settings } = overlay;
      const config = loadConfig({ ...environment, KUBERNETES_SERVICE_HOST: '10.0.0.1' });
      for (const name of Object.keys(environment)) assert.ok(name in config, name);
      assert.deepEqual(config.KAFKA_BROKERS, ['broker.example.com:9093']);
      assert.equal(config.KAFKA_SASL_USERNAME, 'shop');
      assert.equal(config.KAFKA_SASL_PASSWORD, 'hunter2');
      assert.equal(config.REDIS_URL, 'rediss://:hunter2@redis.example.com:6379', 'not the one of the base');
      assert.deepEqual(config.ORIGINS, ['https://www.example.com']);
      for (const name of ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD']) assert.ok(!(name in settings), name);
    });

    it('does not build without credentials, which git is not shown', async (t) => {
      const copy = await Copy.filledIn(t, example);
      await rm(path.join(copy.folder, 'credentials.env'));
      await assert.rejects(copy.build(), /credentials\.env/);
      assert.match(await readFile(path.join(copy.folder, '.gitignore'), 'utf8'), /^credentials\.env$/m);
    });

    it('has a gateway refuse to start where an example’s value was left, and name each', async (t) => {
      const { environment } = await (await Copy.of(t, example)).build();
      assert.throws(
        () => loadConfig(environment),
        ({ message }: Error) => {
          const said = message.split('\n');
          for (const [variable, left] of Object.entries(LEFT)) {
            const line = `  ${variable}: expected a value of yours, got the example's ${left}`;
            assert.ok(said.includes(line), `expected ${line}, got ${message}`);
          }
          return true;
        },
      );
    });

    it('passes the policy, but for what has to be replaced, credentials included', async (t) => {
      const { manifests } = await (await Copy.of(t, example)).build();
      const { faults } = judge(manifests);
      assert.ok(faults.every(isExampleValue), faults.join('\n'));
      for (const place of [
        'KAFKA_SASL_PASSWORD',
        'ORIGINS',
        'egress.0.to.0.ipBlock.cidr',
        'containers.0.image',
      ])
        assert.ok(faults.join('\n').includes(place), place);
      const taken = judge(manifests, { examples: true });
      assert.deepEqual(taken.faults, []);
      assert.deepEqual(
        taken.notes.filter(isExampleValue),
        faults.map((fault) => `${fault}; this is an example`),
      );
    });

    it('is the same with the base of a release’s repository', async (t) => {
      const copy = await Copy.filledIn(t, example);
      const local = await copy.build();
      const repository = await published(t);
      await copy.edit('kustomization.yaml', (text) =>
        text.replaceAll(
          /\.\.\/sluice\/(\S+)$/gm,
          (_, folder: string) => `file://${repository}//${folder}?ref=v0.1.0`,
        ),
      );
      assert.equal((await copy.build()).yaml, local.yaml);
    });
  });
}

test(
  'the example graph-in-config-map serves the graph that lies in its folder, the user’s own or the one it has',
  needs('kubectl'),
  async (t) => {
    const copy = await Copy.filledIn(t, 'graph-in-config-map');
    assert.deepEqual(await errorsOf(await mounted(t, await copy.build())), []);
    const own = itemSchema('items');
    await copy.edit('graph/schema.graphql', () => own);
    const folder = await mounted(t, await copy.build());
    assert.equal(await readFile(path.join(folder, 'schema.graphql'), 'utf8'), own);
    assert.deepEqual(await errorsOf(folder), []);
  },
);

/** What a pod sees where the graph is mounted. */
async function mounted(t: TestContext, overlay: Overlay): Promise<string> {
  const [volume] = overlay.podSpec.volumes;
  const [mount] = overlay.container.volumeMounts;
  assert.equal(mount.name, volume.name);
  assert.equal(mount.readOnly, true);
  assert.equal(mount.mountPath, overlay.environment['GRAPH']);
  return graphFolder(t, overlay.get('ConfigMap', volume.configMap.name).data ?? {});
}

/** What makes `sluice check` fail. */
async function errorsOf(folder: string): Promise<unknown[]> {
  return (await checkGraph(folder)).filter(({ severity }) => severity === 'error');
}

/** A repository with the manifests in it, tagged as a release is. @returns its path */
async function published(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  await cp(KUBERNETES, path.join(folder, 'deploy/kubernetes'), { recursive: true });
  const git = (...args: readonly string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=a person', '-c', 'user.email=person@example.com', ...args], {
      cwd: folder,
    });
  await git('init', '--quiet');
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'A release');
  await git('tag', 'v0.1.0');
  return folder;
}
