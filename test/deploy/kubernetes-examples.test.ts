import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { loadConfig } from '../../src/config/config.ts';
import { checkGraph } from '../../src/graph/loader/check-graph.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { needs } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { faultsOf, filledIn, Overlay } from '../helpers/deploy/kubernetes.ts';

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
    await cp(path.join(ROOT, 'deploy/kubernetes/examples', example), copy.folder, { recursive: true });
    await cp(copy.#at('credentials.env.example'), copy.#at('credentials.env'));
    return copy;
  }

  /** With all values put in, but for one. */
  static async filledIn(t: TestContext, example: string, left?: string): Promise<Copy> {
    const copy = await Copy.of(t, example);
    for (const file of ['kustomization.yaml', 'network-policy.yaml', 'credentials.env']) {
      await copy.edit(file, (text) => filledIn(text, left));
    }
    return copy;
  }

  async edit(file: string, change: (text: string) => string): Promise<void> {
    const before = await readFile(this.#at(file), 'utf8');
    const after = change(before);
    assert.notEqual(after, before, file);
    await writeFile(this.#at(file), after);
  }

  remove(file: string): Promise<void> {
    return rm(this.#at(file));
  }

  build(): Promise<Overlay> {
    return Overlay.build(this.folder);
  }

  #at(file: string): string {
    return path.join(this.folder, file);
  }
}

/** What makes pods roll when it differs. */
const templateOf = (overlay: Overlay): unknown => overlay.get('Deployment').spec.template;

for (const example of ['graph-in-config-map', 'graph-in-image']) {
  describe(`the example ${example}`, needs('kubectl', 'kubernetes-validate'), () => {
    it('fits the schemas once its values are filled in', async (t) => {
      const copy = await Copy.filledIn(t, example);
      const overlay = await copy.build();
      assert.deepEqual(await faultsOf(overlay), []);
      assert.match(overlay.container.image, /^registry\.example\.com\/[a-z-]+:\d+\.\d+\.\d+$/);
    });

    it('gives pods settings and credentials that a gateway takes', async (t) => {
      const overlay = await (await Copy.filledIn(t, example)).build();
      const { environment } = overlay;
      const config = loadConfig({ ...environment, KUBERNETES_SERVICE_HOST: '10.0.0.1' });
      for (const name of Object.keys(environment)) assert.ok(name in config, name);
      assert.deepEqual(config.KAFKA_BROKERS, ['broker.example.com:9093']);
      assert.equal(config.KAFKA_SASL_USERNAME, 'shop');
      assert.equal(config.KAFKA_SASL_PASSWORD, 'hunter2');
      assert.equal(config.REDIS_URL, 'rediss://:hunter2@redis.example.com:6379', 'not the one of the base');
      assert.deepEqual(config.ORIGINS, ['https://www.example.com']);
      const { settings } = overlay;
      for (const name of ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD']) assert.ok(!(name in settings), name);
    });

    it('does not build without credentials, which git is not shown', async (t) => {
      const copy = await Copy.filledIn(t, example);
      await copy.remove('credentials.env');
      await assert.rejects(copy.build(), /credentials\.env/);
      assert.match(await readFile(path.join(copy.folder, '.gitignore'), 'utf8'), /^credentials\.env$/m);
    });

    for (const [left, variable] of [
      ['REPLACE-WITH-BROKER', 'KAFKA_BROKERS'],
      ['REPLACE-WITH-SITE', 'ORIGINS'],
      ['REPLACE-WITH-REDIS', 'REDIS_URL'],
      ['REPLACE-WITH-USER', 'KAFKA_SASL_USERNAME'],
      ['REPLACE-WITH-PASSWORD', 'KAFKA_SASL_PASSWORD'],
    ] as const) {
      it(`has a gateway refuse to start where ${left} was left`, async (t) => {
        const { environment } = await (await Copy.filledIn(t, example, left)).build();
        const message = `  ${variable}: expected a value of yours, got the example's ${left}`;
        assert.throws(
          () => loadConfig(environment),
          ({ message: said }: Error) => said.split('\n').includes(message),
        );
      });
    }

    for (const [what, file, from, to] of [
      ['a credential', 'credentials.env', 'KAFKA_SASL_PASSWORD=hunter2', 'KAFKA_SASL_PASSWORD=hunter3'],
      ['a setting', 'kustomization.yaml', 'scram-sha-512', 'scram-sha-256'],
    ] as const) {
      it(`rolls the pods when ${what} changes, and only then`, async (t) => {
        const copy = await Copy.filledIn(t, example);
        const [before, again] = [await copy.build(), await copy.build()];
        assert.deepEqual(templateOf(again), templateOf(before));
        await copy.edit(file, (text) => text.replace(from, to));
        assert.notDeepEqual(templateOf(await copy.build()), templateOf(before));
      });
    }

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

describe('the example graph-in-config-map by itself', needs('kubectl'), () => {
  const own = itemSchema('items');

  it('serves the graph that lies in its folder, the user’s own or the one it has', async (t) => {
    const copy = await Copy.filledIn(t, 'graph-in-config-map');
    assert.deepEqual(await errorsOf(await mounted(t, await copy.build())), []);
    await copy.edit('graph/schema.graphql', () => own);
    const folder = await mounted(t, await copy.build());
    assert.equal(await readFile(path.join(folder, 'schema.graphql'), 'utf8'), own);
    assert.deepEqual(await errorsOf(folder), []);
  });

  it('rolls the pods when the graph changes', async (t) => {
    const copy = await Copy.filledIn(t, 'graph-in-config-map');
    const before = await copy.build();
    await copy.edit('graph/schema.graphql', () => own);
    assert.notDeepEqual(templateOf(await copy.build()), templateOf(before));
  });
});

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
  await cp(path.join(ROOT, 'deploy/kubernetes'), path.join(folder, 'deploy/kubernetes'), { recursive: true });
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
