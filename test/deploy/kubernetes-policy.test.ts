import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { faultsOf, Overlay } from '../helpers/deploy/kubernetes.ts';
import { needs } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import type { Manifest } from './policy/manifests.ts';
import { judge } from './policy/policy.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const KUBERNETES = path.join(ROOT, 'deploy/kubernetes');
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
async function onBase(
  t: TestContext,
  components: readonly string[],
  literals: readonly string[],
): Promise<Overlay> {
  const folder = await temporaryFolder(t);
  await symlink(KUBERNETES, path.join(folder, 'kubernetes'));
  const mine = path.join(folder, 'mine');
  await cp(path.join(KUBERNETES, 'overlays/dev/graph'), path.join(mine, 'graph'), { recursive: true });
  const graph = { name: 'sluice-graph', files: ['graph/schema.graphql'] };
  const settings = { name: 'sluice-settings', behavior: 'merge', literals };
  const kustomization = {
    namespace: 'sluice',
    resources: ['../kubernetes/base'],
    components: components.map((name) => `../kubernetes/components/${name}`),
    images: [{ name: 'sluice', newTag: '0.1.0' }],
    configMapGenerator: [...(components.includes('graph-config-map') ? [graph] : []), settings],
  };
  await writeFile(path.join(mine, 'kustomization.yaml'), JSON.stringify(kustomization));
  return Overlay.build(mine);
}

/** An example as it is, beside the folder of Sluice. */
async function exampleCopy(t: TestContext, name: string): Promise<string> {
  const folder = await temporaryFolder(t);
  await symlink(ROOT, path.join(folder, 'sluice'));
  const copy = path.join(folder, 'my-cluster');
  await cp(path.join(KUBERNETES, 'examples', name), copy, { recursive: true });
  await cp(path.join(copy, 'credentials.env.example'), path.join(copy, 'credentials.env'));
  return copy;
}

const isExampleValue = (line: string): boolean =>
  /expected a value of yours at .*, got the example's REPLACE-/.test(line);

describe('the policy', needs('kubectl', 'kubernetes-validate'), () => {
  it('holds for the overlay dev, which has no example values', async () => {
    const { manifests } = await Overlay.build(path.join(KUBERNETES, 'overlays/dev'));
    assert.deepEqual(judge(manifests).faults, []);
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

  it('lets pods through to a Sentinel over TLS by the component redis-sentinel', async (t) => {
    const literals = [...(COMPONENTS['redis-sentinel'] ?? []), 'REDIS_TLS=true'];
    assert.deepEqual(judge((await onBase(t, ['redis-sentinel'], literals)).manifests).faults, []);
  });

  for (const name of ['kafka-tls', 'redis-tls', 'public-https']) {
    it(`misses the settings of the component ${name}, where nothing uses what it opens`, async (t) => {
      const { faults } = judge((await onBase(t, [name], [])).manifests);
      assert.match(faults.join('\n'), /is open for .*, and no setting uses that/);
    });
  }

  for (const name of ['kafka-tls', 'redis-tls', 'redis-sentinel', 'public-https']) {
    it(`misses the component ${name} where only its settings are there`, async (t) => {
      const { faults } = judge((await onBase(t, [], COMPONENTS[name] ?? [])).manifests);
      assert.match(faults.join('\n'), /expected egress of TCP \d+ to be open, and it is closed/);
    });
  }

  it('is tried on all examples, and finds in them what has to be replaced, credentials included', async (t) => {
    const examples = await readdir(path.join(KUBERNETES, 'examples'));
    assert.deepEqual(examples, ['graph-in-config-map', 'graph-in-image']);
    for (const example of examples) {
      const { manifests } = await Overlay.build(await exampleCopy(t, example));
      const { faults } = judge(manifests);
      assert.ok(faults.every(isExampleValue), faults.join('\n'));
      for (const value of [
        'data.KAFKA_SASL_PASSWORD',
        'data.ORIGINS',
        'egress.0.to.0.ipBlock.cidr',
        'containers.0.image',
      ])
        assert.ok(
          faults.some((fault) => fault.includes(value)),
          value,
        );
      const verdict = judge(manifests, { examples: true });
      assert.deepEqual(verdict.faults, []);
      const said = verdict.notes.filter(isExampleValue);
      assert.deepEqual(
        said,
        faults.map((fault) => `${fault}; this is an example`),
      );
    }
  });
});

/** What is broken, how, and what is said of it. */
type Mutation = readonly [string, (manifests: Manifests) => void, RegExp];

/** Manifests to be broken. */
class Manifests {
  readonly all: Manifest[];

  constructor(all: readonly Manifest[]) {
    this.all = structuredClone([...all]);
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- to be changed at will
  find(kind: string, name = 'sluice'): any {
    const found = this.all.find((one) => one.kind === kind && one.metadata.name.startsWith(name));
    assert.ok(found, `${kind} ${name}`);
    return found;
  }

  get pod() {
    return this.find('Deployment').spec.template.spec;
  }

  get container() {
    return this.pod.containers[0];
  }

  get settings(): Record<string, string> {
    return this.find('ConfigMap', 'sluice-settings').data;
  }

  egress(policy: string) {
    return this.find('NetworkPolicy', policy).spec.egress;
  }

  drop(kind: string): void {
    const found = this.find(kind);
    this.all.splice(this.all.indexOf(found), 1);
  }
}

const CLOSED = (what: string): RegExp =>
  new RegExp(`${what}: expected egress of TCP \\d+ to be open, and it is closed`);
const OPEN = (what: string): RegExp => new RegExp(`${what} is open for .*, and no setting uses that`);
const set = (name: string, value: string) => (manifests: Manifests) =>
  void (manifests.settings[name] = value);

const annotate = (name: string, text: string) => (manifests: Manifests) =>
  void (manifests.find('NetworkPolicy').metadata.annotations = { [name]: text });

const NETWORK: readonly Mutation[] = [
  ['brokers at another port', set('KAFKA_BROKERS', 'kafka:9093'), CLOSED('KAFKA_BROKERS \\(kafka:9093\\)')],
  [
    'one of several brokers elsewhere',
    set('KAFKA_BROKERS', 'kafka:9092,kafka:9096'),
    CLOSED('\\(kafka:9096\\)'),
  ],
  ['a port that brokers have left', set('KAFKA_BROKERS', 'kafka:9098'), OPEN('egress of TCP 9092')],
  [
    'brokers outside of the cluster',
    set('KAFKA_BROKERS', 'b-1.kafka.example.com:9092'),
    CLOSED('KAFKA_BROKERS \\(.*\\)'),
  ],
  ['brokers by address', set('KAFKA_BROKERS', '10.1.2.3:9092'), CLOSED('KAFKA_BROKERS \\(.*\\)')],
  ['no brokers', set('KAFKA_BROKERS', ''), OPEN('NetworkPolicy sluice-kafka: egress of TCP 9092')],
  ['Redis over TLS', set('REDIS_URL', 'rediss://redis:6380'), CLOSED('REDIS_URL \\(redis:6380\\)')],
  [
    'Redis at no port named',
    set('REDIS_URL', 'rediss://redis.example.com'),
    CLOSED('REDIS_URL \\(redis.example.com:6379\\)'),
  ],
  [
    'Sentinel',
    ({ settings }) =>
      Object.assign(settings, { REDIS_URL: '', REDIS_SENTINELS: 's:26379', REDIS_SENTINEL_MASTER: 'm' }),
    CLOSED('REDIS_SENTINELS \\(s:26379\\)'),
  ],
  [
    'a cluster',
    ({ settings }) => Object.assign(settings, { REDIS_URL: '', REDIS_CLUSTER: '[fd00::7]:7000' }),
    CLOSED('REDIS_CLUSTER \\(fd00::7:7000\\)'),
  ],
  [
    'keys of tokens',
    set('AUTH_JWKS_URL', 'https://login.example.com/jwks.json'),
    CLOSED('AUTH_JWKS_URL \\(login.example.com:443\\)'),
  ],
  [
    'an endpoint of tokens',
    set('KAFKA_OAUTH_TOKEN_URL', 'https://login.example.com/token'),
    CLOSED('KAFKA_OAUTH_TOKEN_URL \\(login.example.com:443\\)'),
  ],
  [
    'a collector',
    set('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector.monitoring:4318'),
    CLOSED('OTEL_EXPORTER_OTLP_ENDPOINT \\(collector.monitoring:4318\\)'),
  ],
  [
    'a back end',
    set('LISTINGS_URL', 'http://listings.shop.svc:8080/v1'),
    CLOSED('LISTINGS_URL \\(listings.shop.svc:8080\\)'),
  ],
  [
    'a back end in a variable of the container',
    ({ container }) => (container.env = [{ name: 'UAA_URL', value: 'http://uaa' }]),
    CLOSED('UAA_URL \\(uaa:80\\)'),
  ],
  ['another public port', set('PORT', '8443'), /PORT: expected ingress of TCP 8443 to be open/],
  [
    'another public port than the container names',
    set('PORT', '8443'),
    /PORT: expected a containerPort 8443/,
  ],
  ['another admin port', set('ADMIN_PORT', '9090'), /ADMIN_PORT: expected ingress of TCP 9090 to be open/],
  [
    'the admin port for all pods',
    (manifests) => (manifests.find('NetworkPolicy').spec.ingress[1].from = [{ namespaceSelector: {} }]),
    /ADMIN_PORT: expected ingress of TCP 4001 to be open[^]*ingress of TCP 4001 is open for pods \(all\) of namespaces \(all\)/,
  ],
  [
    'ingress from all',
    (manifests) => delete manifests.find('NetworkPolicy').spec.ingress[0].from,
    /expected ingress rules to say from whom/,
  ],
  [
    'egress to all',
    (manifests) => delete manifests.egress('sluice-redis')[0].to,
    /sluice-redis: expected egress rules to say to whom/,
  ],
  [
    'all ports',
    (manifests) => delete manifests.egress('sluice-redis')[0].ports,
    /sluice-redis: expected egress rules to name ports/,
  ],
  [
    'all ports of a protocol',
    (manifests) => delete manifests.egress('sluice-redis')[0].ports[0].port,
    /expected ports as numbers, got all of TCP/,
  ],
  [
    'a range of ports',
    (manifests) => (manifests.egress('sluice-kafka')[0].ports[0].endPort = 9099),
    OPEN('TCP 9093 to 9099'),
  ],
  [
    'a port more',
    (manifests) => manifests.egress('sluice-kafka')[0].ports.push({ port: 443 }),
    OPEN('sluice-kafka: egress of TCP 443'),
  ],
  [
    'a network more',
    (manifests) => manifests.egress('sluice-kafka')[0].to.push({ ipBlock: { cidr: '10.0.0.0/8' } }),
    /egress of TCP 9092 is open for 10\.0\.0\.0\/8, and no setting uses that/,
  ],
  [
    'UDP in place of TCP',
    (manifests) => (manifests.egress('sluice-kafka')[0].ports[0].protocol = 'UDP'),
    CLOSED('KAFKA_BROKERS \\(.*\\)'),
  ],
  [
    'another namespace',
    (manifests) => {
      manifests.settings['KAFKA_BROKERS'] = 'kafka.streams.svc:9092';
      const [peer] = manifests.egress('sluice-kafka')[0].to;
      peer.namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } };
    },
    CLOSED('KAFKA_BROKERS \\(.*\\)'),
  ],
  [
    'names',
    (manifests) => manifests.egress('sluice').pop(),
    /names of hosts \(DNS\): expected egress of UDP 53 to be open/,
  ],
  [
    'names of anyone',
    (manifests) => (manifests.egress('sluice')[0].to = [{ ipBlock: { cidr: '0.0.0.0/0' } }]),
    /is open for 0\.0\.0\.0\/0/,
  ],
  [
    'policies in another namespace',
    (manifests) => {
      for (const { kind, metadata } of manifests.all)
        if (kind === 'NetworkPolicy') Object.assign(metadata, { namespace: 'default' });
    },
    /expected a NetworkPolicy for its pods that closes egress, found none/,
  ],
  [
    'no egress policy',
    (manifests) => {
      for (const { kind, spec } of manifests.all)
        if (kind === 'NetworkPolicy') spec.policyTypes = ['Ingress'];
    },
    /expected a NetworkPolicy for its pods that closes egress/,
  ],
  [
    'private networks as part of the internet',
    (manifests) => {
      manifests.settings['LISTINGS_URL'] = 'https://listings.example.com';
      manifests.egress('sluice').push({ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }], ports: [{ port: 443 }] });
    },
    /expected private networks among what 0\.0\.0\.0\/0 leaves out \(except\), got none with 10\.0\.0\.1, .*169\.254\.169\.254/,
  ],
  [
    'a reason for a port that is closed',
    annotate('sluice/ports-without-setting', '8443 of the former Redis'),
    /NetworkPolicy sluice: expected a rule for port 8443, which its annotation gives a reason for/,
  ],
  [
    'the port of pods that no setting leads to',
    annotate('sluice/pod-ports', 'listings.shop.svc:80 8080'),
    /expected a setting with listings\.shop\.svc:80, of which its annotation has the pods' port/,
  ],
  [
    'the port of pods without their Service',
    annotate('sluice/pod-ports', '8080'),
    /expected host:port and the port of its pods in sluice\/pod-ports, got 8080/,
  ],
  [
    'a port without a setting and without a reason',
    annotate('sluice/ports-without-setting', '443'),
    /expected a port and a reason in sluice\/ports-without-setting, got 443/,
  ],
];

const PODS: readonly Mutation[] = [
  ['root', ({ pod }) => (pod.securityContext.runAsUser = 0), /runAsNonRoot: true, and no runAsUser: 0/],
  ['maybe root', ({ pod }) => delete pod.securityContext.runAsNonRoot, /expected runAsNonRoot: true/],
  [
    'root in the container',
    ({ container }) => (container.securityContext.runAsNonRoot = false),
    /expected runAsNonRoot: true/,
  ],
  [
    'a writable root file system',
    ({ container }) => delete container.securityContext.readOnlyRootFilesystem,
    /readOnlyRootFilesystem: true/,
  ],
  [
    'more privileges',
    ({ container }) => delete container.securityContext.allowPrivilegeEscalation,
    /allowPrivilegeEscalation: false/,
  ],
  [
    'a privileged container',
    ({ container }) => (container.securityContext.privileged = true),
    /no privileged: true/,
  ],
  [
    'capabilities',
    ({ container }) => (container.securityContext.capabilities.add = ['NET_ADMIN']),
    /capabilities: all dropped, none added/,
  ],
  ['no seccomp', ({ pod }) => delete pod.securityContext.seccompProfile, /seccompProfile RuntimeDefault/],
  [
    'no memory limit',
    ({ container }) => delete container.resources.limits.memory,
    /resources\.limits\.memory/,
  ],
  [
    'no request of CPU',
    ({ container }) => delete container.resources.requests.cpu,
    /resources\.requests\.cpu/,
  ],
  ['no startup probe', ({ container }) => delete container.startupProbe, /a startupProbe/],
  ['no liveness probe', ({ container }) => delete container.livenessProbe, /a livenessProbe/],
  ['no readiness probe', ({ container }) => delete container.readinessProbe, /a readinessProbe/],
  [
    'the tag latest',
    ({ container }) => (container.image = 'a:5000/sluice:latest'),
    /tag other than latest.*got a:5000\/sluice:latest/,
  ],
  [
    'no tag',
    ({ container }) => (container.image = 'a:5000/sluice'),
    /tag other than latest.*got a:5000\/sluice/,
  ],
  [
    'a token of Kubernetes',
    ({ pod }) => delete pod.automountServiceAccountToken,
    /automountServiceAccountToken: false/,
  ],
  ['the network of the node', ({ pod }) => (pod.hostNetwork = true), /no hostNetwork/],
  [
    'a folder of the node',
    ({ pod }) => pod.volumes.push({ name: 'x', hostPath: { path: '/' } }),
    /no hostPath, got one in the volume x/,
  ],
  [
    'another container that is worse',
    ({ pod }) => pod.containers.push({ name: 'helper', image: 'helper:1' }),
    /container helper: expected readOnlyRootFilesystem/,
  ],
  [
    'no disruption budget',
    (manifests) => manifests.drop('PodDisruptionBudget'),
    /expected a PodDisruptionBudget that selects its pods/,
  ],
  [
    'one for other pods',
    (manifests) => (manifests.find('PodDisruptionBudget').spec.selector.matchLabels = { a: 'b' }),
    /expected a PodDisruptionBudget/,
  ],
  [
    'one that lets no pod go',
    (manifests) => (manifests.find('PodDisruptionBudget').spec.maxUnavailable = 0),
    /expected that pods may be evicted/,
  ],
  [
    'no gateway',
    (manifests) => manifests.drop('Deployment'),
    /expected pods with the label app\.kubernetes\.io\/name: sluice, found none/,
  ],
];

const VALUES: readonly Mutation[] = [
  [
    'a password among settings',
    set('KAFKA_SASL_PASSWORD', 'hunter2'),
    /ConfigMap sluice-settings-\w+: expected KAFKA_SASL_PASSWORD in a Secret/,
  ],
  ['a password in a URL', set('REDIS_URL', 'redis://:hunter2@redis:6379'), /expected REDIS_URL in a Secret/],
  ['a token of a back end', set('LISTINGS_TOKEN', 'abc'), /expected LISTINGS_TOKEN in a Secret/],
  ['a private key', set('ANYTHING', '-----BEGIN EC PRIVATE KEY-----'), /expected ANYTHING in a Secret/],
  [
    'a secret in the Deployment',
    ({ container }) => (container.env = [{ name: 'AUTH_SECRET', value: 'x'.repeat(32) }]),
    /Deployment sluice, container sluice: expected AUTH_SECRET in a Secret/,
  ],
  [
    'a setting that no gateway takes',
    set('PING_SECONDS', '-1'),
    /PING_SECONDS: expected a whole number from 0 to 3600, got -1/,
  ],
  [
    'settings that do not go together',
    set('TLS_CERT', '/tls/tls.crt'),
    /TLS_KEY: expected a file, as TLS_CERT is set/,
  ],
  [
    'an example value',
    set('ORIGINS', 'https://REPLACE-WITH-SITE'),
    /at data\.ORIGINS, got the example's REPLACE-WITH-SITE/,
  ],
  [
    'settings that roll no pods',
    (manifests) => {
      manifests.find('ConfigMap', 'sluice-settings').metadata.name = 'sluice-settings';
      manifests.container.envFrom[0].configMapRef.name = 'sluice-settings';
    },
    /expected the ConfigMap sluice-settings of a generator, with a hash in its name, as its variables are read once/,
  ],
  [
    'a graph that is neither rolled nor watched',
    (manifests) => mountMap(manifests, { mountPath: '/graph' }),
    /expected the ConfigMap more of a generator, with a hash in its name, as WATCH_GRAPH is not true/,
  ],
  [
    'a key that is read once',
    (manifests) => {
      mountMap(manifests, { mountPath: '/keys' });
      manifests.settings['AUTH_PUBLIC_KEY'] = '/keys/tokens.pem';
      manifests.settings['WATCH_GRAPH'] = 'true';
    },
    /expected the ConfigMap more of a generator.*the file of AUTH_PUBLIC_KEY is read once/,
  ],
  [
    'a file that never changes',
    (manifests) => mountMap(manifests, { mountPath: '/etc/x', subPath: 'x' }),
    /expected the ConfigMap more of a generator.*subPath never changes/,
  ],
];

function mountMap(manifests: Manifests, mount: object): void {
  const { namespace } = manifests.find('Deployment').metadata;
  manifests.all.push({ kind: 'ConfigMap', metadata: { name: 'more', namespace }, data: {}, spec: undefined });
  manifests.pod.volumes.push({ name: 'more', configMap: { name: 'more' } });
  manifests.container.volumeMounts.push({ name: 'more', ...mount });
  manifests.settings['GRAPH'] = '/graph';
}

describe('the policy refuses', needs('kubectl'), () => {
  let sound: readonly Manifest[];

  before(async () => {
    sound = (await Overlay.build(path.join(KUBERNETES, 'overlays/production'))).filledIn().manifests;
    assert.deepEqual(judge(sound).faults, []);
  });

  for (const [what, mutate, expected] of [...NETWORK, ...PODS, ...VALUES]) {
    it(what, () => {
      const broken = new Manifests(sound);
      mutate(broken);
      assert.match(judge(broken.all).faults.join('\n'), expected);
    });
  }
});

describe('the policy takes', needs('kubectl'), () => {
  let sound: readonly Manifest[];

  before(async () => {
    sound = (await Overlay.build(path.join(KUBERNETES, 'overlays/production'))).filledIn().manifests;
  });

  const faultsWith = (mutate: (manifests: Manifests) => void): readonly string[] => {
    const changed = new Manifests(sound);
    mutate(changed);
    return judge(changed.all).faults;
  };

  it('a network in which the brokers are, by name or address', () => {
    for (const broker of ['b-1.kafka.example.com:9092', '10.1.2.3:9092']) {
      const faults = faultsWith((manifests) => {
        manifests.settings['KAFKA_BROKERS'] = broker;
        manifests.egress('sluice-kafka')[0].to = [{ ipBlock: { cidr: '10.1.0.0/16' } }];
      });
      assert.deepEqual(faults, []);
    }
  });

  it('a file that no volume holds, and says that the image must', () => {
    const changed = new Manifests(sound);
    changed.settings['KAFKA_TLS'] = 'true';
    changed.settings['KAFKA_CA'] = '/certs/ca.crt';
    changed.settings['REDIS_PASSWORD_FILE'] = '/certificates/redis-password';
    const { notes } = judge(changed.all);
    const line =
      'Deployment sluice: KAFKA_CA: no volume is mounted at /certs/ca.crt, so that the image must hold it';
    assert.deepEqual(
      notes.filter((note) => note.includes('no volume')),
      [line],
    );
  });

  it('no drain that takes longer than Kubernetes waits', () => {
    const faults = faultsWith((manifests) => void (manifests.settings['DRAIN_SECONDS'] = '300'));
    assert.match(
      faults.join('\n'),
      /^Deployment sluice: expected terminationGracePeriodSeconds of more than 3\d\d, .*, got \d+$/m,
    );
  });

  it('a Service whose pods have another port', () => {
    const faults = faultsWith((manifests) => {
      manifests.settings['LISTINGS_URL'] = 'http://listings.shop.svc';
      const policy = manifests.find('NetworkPolicy');
      policy.metadata.annotations = { 'sluice/pod-ports': 'listings.shop.svc:80 8080' };
      policy.spec.egress.push({ to: [{ namespaceSelector: {} }], ports: [{ port: 8080 }] });
    });
    assert.deepEqual(faults, []);
  });

  it('a port without a setting, with a reason', () => {
    const faults = faultsWith((manifests) => {
      manifests.find('NetworkPolicy').metadata.annotations = {
        'sluice/ports-without-setting': '443 tokens of AWS, from its regional endpoint',
      };
      manifests.egress('sluice').push({ to: [{ ipBlock: { cidr: '10.3.0.0/16' } }], ports: [{ port: 443 }] });
    });
    assert.deepEqual(faults, []);
  });

  it('URLs to which no pod connects', () => {
    const faults = faultsWith((manifests) => {
      manifests.settings['AUTH_PUBLIC_KEY'] = '/certificates/tokens.pem';
      manifests.settings['AUTH_ISSUER'] = 'https://login.example.com/';
      manifests.settings['OTEL_EXPORTER_OTLP_ENDPOINT'] = 'http://localhost:4318';
      manifests.settings['ORIGINS'] = 'https://www.example.com,https://shop.example.com';
    });
    assert.deepEqual(faults, []);
  });

  it('variables and files that something else makes, and says which changes wait for a rollout', () => {
    const changed = new Manifests(sound);
    changed.settings['AUTH_PUBLIC_KEY'] = '/certificates/tokens.pem';
    const { faults, notes } = judge(changed.all);
    assert.deepEqual(faults, []);
    for (const [secret, reason] of [
      ['sluice-secrets', 'its variables are read once'],
      ['sluice-certificates', 'the file of AUTH_PUBLIC_KEY is read once'],
    ])
      assert.ok(
        notes.some((note) => note.includes(`the Secret ${secret},`) && note.endsWith(`, as ${reason}`)),
      );
  });

  it('a file that is read again, in a ConfigMap without a hash', () => {
    const faults = faultsWith((manifests) => mountMap(manifests, { mountPath: '/etc/x' }));
    assert.deepEqual(faults, []);
  });
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
