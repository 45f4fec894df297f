import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Overlay } from '../helpers/deploy/kubernetes.ts';
import { needs } from '../helpers/services.ts';
import { judge } from './policy/policy.ts';

/** What a kustomization with all generators has in them. */
const GENERATED = {
  'sluice-settings': ['LOG_LEVEL=info'],
  'sluice-graph': ['schema.graphql=type Query { a: String }'],
  'sluice-secrets': ['LISTINGS_TOKEN=one'],
  'sluice-certificates': ['kafka.crt=one'],
  'sluice-tls': ['tls.crt=one', 'tls.key=one'],
};
type Generated = Readonly<Record<keyof typeof GENERATED, readonly string[]>>;

/** What a pod reads again, so that it need not be rolled where something else makes the object. */
const READ_AGAIN = ['sluice-certificates', 'sluice-tls'];

function build(t: TestContext, generated: Generated, options: object = {}): Promise<Overlay> {
  const { 'sluice-settings': settings, 'sluice-graph': graph, ...secrets } = generated;
  return Overlay.of(t, {
    namespace: 'sluice',
    resources: ['../kubernetes/base'],
    components: ['../kubernetes/components/graph-config-map', '../kubernetes/components/tls'],
    images: [{ name: 'sluice', newTag: '0.1.0' }],
    configMapGenerator: [
      { name: 'sluice-settings', behavior: 'merge', literals: settings },
      { name: 'sluice-graph', literals: graph, options },
    ],
    secretGenerator: Object.entries(secrets).map(([name, literals]) => ({ name, literals, options })),
  });
}

describe('a change of what a kustomization generates', needs('kubectl'), () => {
  for (const name of Object.keys(GENERATED) as (keyof typeof GENERATED)[]) {
    it(`rolls the pods where it is in ${name}, and no change rolls none`, async (t) => {
      const first = await build(t, GENERATED);
      assert.deepEqual((await build(t, GENERATED)).template, first.template);
      const changed = GENERATED[name].map((literal) => literal.replace(/(one|info|String)/, 'debug'));
      assert.notDeepEqual(changed, GENERATED[name]);
      const next = await build(t, { ...GENERATED, [name]: changed });
      assert.notDeepEqual(next.template, first.template);
    });
  }

  it('rolls no pods where names have no hash, which the policy refuses of all that is not read again', async (t) => {
    const plain = { disableNameSuffixHash: true };
    const first = await build(t, GENERATED, plain);
    const changed = {
      ...GENERATED,
      'sluice-secrets': ['LISTINGS_TOKEN=two'],
      'sluice-graph': ['schema.graphql=#'],
    };
    assert.deepEqual((await build(t, changed, plain)).template, first.template);
    const refused = judge(first.manifests).faults.map(
      (fault) => /expected the \w+ (\S+) of a generator/.exec(fault)?.[1],
    );
    assert.deepEqual(refused.toSorted(), ['sluice-graph', 'sluice-secrets']);
    for (const name of READ_AGAIN) assert.ok(name in GENERATED && !refused.includes(name));
  });
});
