import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { KUBERNETES, Overlay } from '../helpers/deploy/kubernetes.ts';
import { needs } from '../helpers/services.ts';
import type { Manifest } from './policy/manifests.ts';
import { judge } from './policy/policy.ts';

/** Manifests to be changed. */
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

  get policies(): Manifest[] {
    return this.all.filter(({ kind }) => kind === 'NetworkPolicy');
  }

  egress(policy: string) {
    return this.find('NetworkPolicy', policy).spec.egress;
  }

  annotate(name: string, text: string): void {
    this.find('NetworkPolicy').metadata.annotations = { [name]: text };
  }

  drop(kind: string): void {
    this.all.splice(this.all.indexOf(this.find(kind)), 1);
  }

  /** A ConfigMap without a hash in its name, mounted in the container. */
  mountMap(mount: object): void {
    const { namespace } = this.find('Deployment').metadata;
    this.all.push({ kind: 'ConfigMap', metadata: { name: 'more', namespace }, data: {}, spec: undefined });
    this.pod.volumes.push({ name: 'more', configMap: { name: 'more' } });
    this.container.volumeMounts.push({ name: 'more', ...mount });
    this.settings['GRAPH'] = '/graph';
  }
}

/** Settings that lead where the network is closed: name, value, and how the fault names the server. */
const CLOSED: readonly (readonly [name: string, value: string, server: string])[] = [
  ['KAFKA_BROKERS', 'kafka:9093', 'kafka:9093'],
  ['KAFKA_BROKERS', 'kafka:9092,kafka:9096', 'kafka:9096'],
  ['KAFKA_BROKERS', 'b-1.kafka.example.com:9092', 'b-1.kafka.example.com:9092'],
  ['KAFKA_BROKERS', '10.1.2.3:9092', '10.1.2.3:9092'],
  ['REDIS_URL', 'rediss://redis:6380', 'redis:6380'],
  ['REDIS_URL', 'rediss://redis.example.com', 'redis.example.com:6379'],
  ['REDIS_SENTINELS', 's:26379', 's:26379'],
  ['REDIS_CLUSTER', '[fd00::7]:7000', 'fd00::7:7000'],
  ['AUTH_JWKS_URL', 'https://login.example.com/jwks.json', 'login.example.com:443'],
  ['KAFKA_OAUTH_TOKEN_URL', 'https://login.example.com/token', 'login.example.com:443'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector.monitoring:4318', 'collector.monitoring:4318'],
  ['LISTINGS_URL', 'http://listings.shop.svc:8080/v1', 'listings.shop.svc:8080'],
];

/** Other settings, and what is said of them. */
const SETTINGS: readonly (readonly [name: string, value: string, expected: RegExp])[] = [
  ['KAFKA_BROKERS', 'kafka:9098', /egress of TCP 9092 is open for .*, and no setting uses that/],
  [
    'KAFKA_BROKERS',
    '',
    /NetworkPolicy sluice-kafka: egress of TCP 9092 is open .*, and no setting uses that/,
  ],
  ['PORT', '8443', /PORT: expected a containerPort 8443[^]*PORT: expected ingress of TCP 8443 to be open/],
  ['ADMIN_PORT', '9090', /ADMIN_PORT: expected ingress of TCP 9090 to be open/],
  [
    'KAFKA_SASL_PASSWORD',
    'hunter2',
    /ConfigMap sluice-settings-\w+: expected KAFKA_SASL_PASSWORD in a Secret/,
  ],
  ['REDIS_URL', 'redis://:hunter2@redis:6379', /expected REDIS_URL in a Secret/],
  ['LISTINGS_TOKEN', 'abc', /expected LISTINGS_TOKEN in a Secret/],
  ['ANYTHING', '-----BEGIN EC PRIVATE KEY-----', /expected ANYTHING in a Secret/],
  ['PING_SECONDS', '-1', /PING_SECONDS: expected a whole number from 0 to 3600, got -1/],
  ['TLS_CERT', '/tls/tls.crt', /TLS_KEY: expected a file, as TLS_CERT is set/],
  ['ORIGINS', 'https://REPLACE-WITH-SITE', /at data\.ORIGINS, got the example's REPLACE-WITH-SITE/],
  [
    'DRAIN_SECONDS',
    '300',
    /^Deployment sluice: expected terminationGracePeriodSeconds of more than 3\d\d, .*, got \d+$/m,
  ],
];

/** What is left out of the container or the pod, and what is said of it. */
const LEFT_OUT: Readonly<Record<string, RegExp>> = {
  'pod.securityContext.runAsNonRoot': /expected runAsNonRoot: true/,
  'pod.securityContext.seccompProfile': /seccompProfile RuntimeDefault/,
  'pod.automountServiceAccountToken': /automountServiceAccountToken: false/,
  'container.securityContext.readOnlyRootFilesystem': /readOnlyRootFilesystem: true/,
  'container.securityContext.allowPrivilegeEscalation': /allowPrivilegeEscalation: false/,
  'container.resources.limits.memory': /resources\.limits\.memory/,
  'container.resources.requests.cpu': /resources\.requests\.cpu/,
  'container.startupProbe': /a startupProbe/,
  'container.livenessProbe': /a livenessProbe/,
  'container.readinessProbe': /a readinessProbe/,
};

/** What is put into the container or the pod. */
const PUT_IN: readonly (readonly [place: string, value: unknown, expected: RegExp])[] = [
  ['pod.securityContext.runAsUser', 0, /runAsNonRoot: true, and no runAsUser: 0/],
  ['container.securityContext.runAsNonRoot', false, /expected runAsNonRoot: true/],
  ['container.securityContext.privileged', true, /no privileged: true/],
  ['container.securityContext.capabilities.add', ['NET_ADMIN'], /capabilities: all dropped, none added/],
  ['container.image', 'a:5000/sluice:latest', /tag other than latest.*got a:5000\/sluice:latest/],
  ['container.image', 'a:5000/sluice', /tag other than latest.*got a:5000\/sluice/],
  ['container.env', [{ name: 'UAA_URL', value: 'http://uaa' }], /UAA_URL \(uaa:80\): .*, and it is closed/],
  [
    'container.env',
    [{ name: 'AUTH_SECRET', value: 'x'.repeat(32) }],
    /Deployment sluice, container sluice: expected AUTH_SECRET in a Secret/,
  ],
  ['pod.hostNetwork', true, /no hostNetwork/],
];

/** Peers and ports that the policies for Kafka and Redis have, changed. */
const NETWORK: Readonly<Record<string, readonly [(manifests: Manifests) => void, RegExp]>> = {
  'the admin port for all pods': [
    (manifests) => (manifests.find('NetworkPolicy').spec.ingress[1].from = [{ namespaceSelector: {} }]),
    /ADMIN_PORT: expected ingress of TCP 4001 to be open[^]*ingress of TCP 4001 is open for pods \(all\) of namespaces \(all\)/,
  ],
  'ingress from all': [
    (manifests) => delete manifests.find('NetworkPolicy').spec.ingress[0].from,
    /expected ingress rules to say from whom/,
  ],
  'egress to all': [
    (manifests) => delete manifests.egress('sluice-redis')[0].to,
    /sluice-redis: expected egress rules to say to whom/,
  ],
  'all ports': [
    (manifests) => delete manifests.egress('sluice-redis')[0].ports,
    /sluice-redis: expected egress rules to name ports/,
  ],
  'all ports of a protocol': [
    (manifests) => delete manifests.egress('sluice-redis')[0].ports[0].port,
    /expected ports as numbers, got all of TCP/,
  ],
  'a range of ports': [
    (manifests) => (manifests.egress('sluice-kafka')[0].ports[0].endPort = 9099),
    /TCP 9093 to 9099 is open for .*, and no setting uses that/,
  ],
  'a port more': [
    (manifests) => manifests.egress('sluice-kafka')[0].ports.push({ port: 443 }),
    /sluice-kafka: egress of TCP 443 is open for .*, and no setting uses that/,
  ],
  'a network more': [
    (manifests) => manifests.egress('sluice-kafka')[0].to.push({ ipBlock: { cidr: '10.0.0.0/8' } }),
    /egress of TCP 9092 is open for 10\.0\.0\.0\/8, and no setting uses that/,
  ],
  'UDP in place of TCP': [
    (manifests) => (manifests.egress('sluice-kafka')[0].ports[0].protocol = 'UDP'),
    /KAFKA_BROKERS \(.*\): expected egress of TCP \d+ to be open, and it is closed/,
  ],
  'another namespace': [
    (manifests) => {
      manifests.settings['KAFKA_BROKERS'] = 'kafka.streams.svc:9092';
      const [peer] = manifests.egress('sluice-kafka')[0].to;
      peer.namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } };
    },
    /KAFKA_BROKERS \(.*\): expected egress of TCP \d+ to be open, and it is closed/,
  ],
  names: [
    (manifests) => manifests.egress('sluice').pop(),
    /names of hosts \(DNS\): expected egress of UDP 53 to be open/,
  ],
  'names of anyone': [
    (manifests) => (manifests.egress('sluice')[0].to = [{ ipBlock: { cidr: '0.0.0.0/0' } }]),
    /is open for 0\.0\.0\.0\/0/,
  ],
  'policies in another namespace': [
    ({ policies }) => {
      for (const { metadata } of policies) Object.assign(metadata, { namespace: 'default' });
    },
    /expected a NetworkPolicy for its pods that closes egress, found none/,
  ],
  'no egress policy': [
    ({ policies }) => {
      for (const { spec } of policies) spec.policyTypes = ['Ingress'];
    },
    /expected a NetworkPolicy for its pods that closes egress/,
  ],
  'private networks as part of the internet': [
    (manifests) => {
      manifests.settings['LISTINGS_URL'] = 'https://listings.example.com';
      manifests.egress('sluice').push({ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }], ports: [{ port: 443 }] });
    },
    /expected private networks among what 0\.0\.0\.0\/0 leaves out \(except\), got none with 10\.0\.0\.1, .*169\.254\.169\.254/,
  ],
  'a reason for a port that is closed': [
    (manifests) => manifests.annotate('sluice/ports-without-setting', '8443 of the former Redis'),
    /NetworkPolicy sluice: expected a rule for port 8443, which its annotation gives a reason for/,
  ],
  'the port of pods that no setting leads to': [
    (manifests) => manifests.annotate('sluice/pod-ports', 'listings.shop.svc:80 8080'),
    /expected a setting with listings\.shop\.svc:80, of which its annotation has the pods' port/,
  ],
  'the port of pods without their Service': [
    (manifests) => manifests.annotate('sluice/pod-ports', '8080'),
    /expected host:port and the port of its pods in sluice\/pod-ports, got 8080/,
  ],
  'a port without a setting and without a reason': [
    (manifests) => manifests.annotate('sluice/ports-without-setting', '443'),
    /expected a port and a reason in sluice\/ports-without-setting, got 443/,
  ],
};

/** Everything else. */
const OTHERS: Readonly<Record<string, readonly [(manifests: Manifests) => void, RegExp]>> = {
  'a folder of the node': [
    ({ pod }) => pod.volumes.push({ name: 'x', hostPath: { path: '/' } }),
    /no hostPath, got one in the volume x/,
  ],
  'another container that is worse': [
    ({ pod }) => pod.containers.push({ name: 'helper', image: 'helper:1' }),
    /container helper: expected readOnlyRootFilesystem/,
  ],
  'no disruption budget': [
    (manifests) => manifests.drop('PodDisruptionBudget'),
    /expected a PodDisruptionBudget that selects its pods/,
  ],
  'a disruption budget for other pods': [
    (manifests) => (manifests.find('PodDisruptionBudget').spec.selector.matchLabels = { a: 'b' }),
    /expected a PodDisruptionBudget/,
  ],
  'a disruption budget that lets no pod go': [
    (manifests) => (manifests.find('PodDisruptionBudget').spec.maxUnavailable = 0),
    /expected that pods may be evicted/,
  ],
  'no gateway': [
    (manifests) => manifests.drop('Deployment'),
    /expected pods with the label app\.kubernetes\.io\/name: sluice, found none/,
  ],
  'settings that roll no pods': [
    (manifests) => {
      manifests.find('ConfigMap', 'sluice-settings').metadata.name = 'sluice-settings';
      manifests.container.envFrom[0].configMapRef.name = 'sluice-settings';
    },
    /expected the ConfigMap sluice-settings of a generator, with a hash in its name, as its variables are read once/,
  ],
  'a graph that is neither rolled nor watched': [
    (manifests) => manifests.mountMap({ mountPath: '/graph' }),
    /expected the ConfigMap more of a generator, with a hash in its name, as WATCH_GRAPH is not true/,
  ],
  'a key that is read once': [
    (manifests) => {
      manifests.mountMap({ mountPath: '/keys' });
      manifests.settings['AUTH_PUBLIC_KEY'] = '/keys/tokens.pem';
      manifests.settings['WATCH_GRAPH'] = 'true';
    },
    /expected the ConfigMap more of a generator.*the file of AUTH_PUBLIC_KEY is read once/,
  ],
  'a file that never changes': [
    (manifests) => manifests.mountMap({ mountPath: '/etc/x', subPath: 'x' }),
    /expected the ConfigMap more of a generator.*subPath never changes/,
  ],
};

/** Puts a value in at 'pod.…' or 'container.…'; undefined: takes it out. */
function put(manifests: Manifests, place: string, value: unknown): void {
  const steps = place.split('.');
  const last = steps.pop() ?? '';
  // oxlint-disable-next-line typescript/no-explicit-any -- a path into manifests, which have every shape
  const owner = steps.reduce((at: any, step) => at[step], manifests);
  if (value === undefined) assert.ok(last in owner, place);
  owner[last] = value;
}

describe('on manifests of production, the policy', needs('kubectl'), () => {
  let sound: readonly Manifest[];

  before(async () => {
    sound = (await Overlay.build(path.join(KUBERNETES, 'overlays/production'))).filledIn().manifests;
    assert.deepEqual(judge(sound).faults, []);
  });

  const judged = (change: (manifests: Manifests) => void) => {
    const changed = new Manifests(sound);
    change(changed);
    return judge(changed.all);
  };

  const refuses = (what: string, change: (manifests: Manifests) => void, expected: RegExp): void => {
    it(`refuses ${what}`, () => assert.match(judged(change).faults.join('\n'), expected));
  };

  for (const [name, value, expected] of SETTINGS)
    refuses(`${name}=${value}`, ({ settings }) => (settings[name] = value), expected);
  for (const [place, expected] of Object.entries(LEFT_OUT))
    refuses(`that there is no ${place}`, (manifests) => put(manifests, place, undefined), expected);
  for (const [place, value, expected] of PUT_IN)
    refuses(`${JSON.stringify(value)} as ${place}`, (manifests) => put(manifests, place, value), expected);
  for (const [what, [change, expected]] of Object.entries({ ...NETWORK, ...OTHERS }))
    refuses(what, change, expected);

  for (const [name, value, server] of CLOSED) {
    it(`refuses ${name}=${value}, where the network is closed`, () => {
      const { faults } = judged(({ settings }) => {
        if (/^REDIS_[SC]/.test(name)) Object.assign(settings, { REDIS_URL: '', REDIS_SENTINEL_MASTER: 'm' });
        settings[name] = value;
      });
      const fault = `${name} (${server}): expected egress of TCP ${server.split(':').at(-1)} to be open, and it is closed`;
      assert.ok(
        faults.some((each) => each.endsWith(fault)),
        faults.join('\n'),
      );
    });
  }

  it('takes a network in which the brokers are, by name or address', () => {
    for (const broker of ['b-1.kafka.example.com:9092', '10.1.2.3:9092']) {
      const { faults } = judged((manifests) => {
        manifests.settings['KAFKA_BROKERS'] = broker;
        manifests.egress('sluice-kafka')[0].to = [{ ipBlock: { cidr: '10.1.0.0/16' } }];
      });
      assert.deepEqual(faults, []);
    }
  });

  it('takes a file that no volume holds, and says that the image must', () => {
    const { notes } = judged(({ settings }) =>
      Object.assign(settings, {
        KAFKA_TLS: 'true',
        KAFKA_CA: '/certs/ca.crt',
        REDIS_PASSWORD_FILE: '/certificates/redis-password',
      }),
    );
    assert.deepEqual(
      notes.filter((note) => note.includes('no volume')),
      ['Deployment sluice: KAFKA_CA: no volume is mounted at /certs/ca.crt, so that the image must hold it'],
    );
  });

  it('takes a Service whose pods have another port', () => {
    const { faults } = judged((manifests) => {
      manifests.settings['LISTINGS_URL'] = 'http://listings.shop.svc';
      manifests.annotate('sluice/pod-ports', 'listings.shop.svc:80 8080');
      manifests.egress('sluice').push({ to: [{ namespaceSelector: {} }], ports: [{ port: 8080 }] });
    });
    assert.deepEqual(faults, []);
  });

  it('takes a port without a setting, with a reason', () => {
    const { faults } = judged((manifests) => {
      manifests.annotate('sluice/ports-without-setting', '443 tokens of AWS, from its regional endpoint');
      manifests.egress('sluice').push({ to: [{ ipBlock: { cidr: '10.3.0.0/16' } }], ports: [{ port: 443 }] });
    });
    assert.deepEqual(faults, []);
  });

  it('takes URLs to which no pod connects', () => {
    const { faults } = judged(({ settings }) =>
      Object.assign(settings, {
        AUTH_PUBLIC_KEY: '/certificates/tokens.pem',
        AUTH_ISSUER: 'https://login.example.com/',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
        ORIGINS: 'https://www.example.com,https://shop.example.com',
      }),
    );
    assert.deepEqual(faults, []);
  });

  it('takes variables and files that something else makes, and says which changes wait for a rollout', () => {
    const { faults, notes } = judged(
      ({ settings }) => (settings['AUTH_PUBLIC_KEY'] = '/certificates/tokens.pem'),
    );
    assert.deepEqual(faults, []);
    for (const [secret, reason] of [
      ['sluice-secrets', 'its variables are read once'],
      ['sluice-certificates', 'the file of AUTH_PUBLIC_KEY is read once'],
    ])
      assert.ok(
        notes.some((note) => note.includes(`the Secret ${secret},`) && note.endsWith(`, as ${reason}`)),
      );
  });

  it('takes a file that is read again, in a ConfigMap without a hash', () => {
    assert.deepEqual(judged((manifests) => manifests.mountMap({ mountPath: '/etc/x' })).faults, []);
  });
});
