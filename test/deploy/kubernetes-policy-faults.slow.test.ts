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

  get budget() {
    return this.find('PodDisruptionBudget').spec;
  }

  get ingress() {
    return this.find('NetworkPolicy').spec.ingress;
  }

  get egress() {
    return this.find('NetworkPolicy').spec.egress;
  }

  get toKafka() {
    return this.find('NetworkPolicy', 'sluice-kafka').spec.egress[0];
  }

  get toRedis() {
    return this.find('NetworkPolicy', 'sluice-redis').spec.egress[0];
  }

  annotate(name: string, text: string): void {
    this.find('NetworkPolicy').metadata.annotations = { [`sluice/${name}`]: text };
  }

  open(peer: object, port: number): void {
    this.egress.push({ to: [peer], ports: [{ port }] });
  }

  /** A ConfigMap without a hash in its name, mounted in the container. */
  mountMap(mount: object): void {
    const { namespace } = this.find('Deployment').metadata;
    this.all.push({ kind: 'ConfigMap', metadata: { name: 'more', namespace }, data: {}, spec: undefined });
    this.pod.volumes.push({ name: 'more', configMap: { name: 'more' } });
    this.container.volumeMounts.push({ name: 'more', ...mount });
    this.settings['GRAPH'] = '/graph';
  }

  /** Puts a value in at 'pod.…' or 'container.…'; undefined: takes it out. */
  put(place: string, value: unknown): void {
    const steps = place.split('.');
    const last = steps.pop() ?? '';
    // oxlint-disable-next-line typescript/no-explicit-any -- a path into manifests, which have every shape
    const owner = steps.reduce((at: any, step) => at[step], this);
    if (value === undefined) assert.ok(last in owner, place);
    owner[last] = value;
  }
}

type Change = (manifests: Manifests) => unknown;

/** Settings that lead where the network is closed: name, value, and how the fault names the server. */
const CLOSED: readonly (readonly [name: string, value: string, server: string])[] = [
  ['KAFKA_BROKERS', 'kafka:9092,kafka:9096', 'kafka:9096'],
  ['KAFKA_BROKERS', 'b-1.kafka.example.com:9092', 'b-1.kafka.example.com:9092'],
  ['KAFKA_BROKERS', '10.1.2.3:9092', '10.1.2.3:9092'],
  ['REDIS_URL', 'rediss://redis.example.com', 'redis.example.com:6379'],
  ['REDIS_CLUSTER', '[fd00::7]:7000', 'fd00::7:7000'],
  ['AUTH_JWKS_URL', 'https://login.example.com/jwks.json', 'login.example.com:443'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector.monitoring:4318', 'collector.monitoring:4318'],
  ['LISTINGS_URL', 'http://listings.shop.svc:8080/v1', 'listings.shop.svc:8080'],
];

/** Other settings, and what is said of them. */
const SETTINGS: readonly (readonly [name: string, value: string, expected: RegExp])[] = [
  ['KAFKA_BROKERS', '', /NetworkPolicy sluice-kafka: egress of TCP 9092 is open .*, and no setting uses/],
  ['PORT', '8443', /PORT: expected a containerPort 8443[^]*PORT: expected ingress of TCP 8443 to be open/],
  ['ADMIN_PORT', '9090', /ADMIN_PORT: expected ingress of TCP 9090 to be open/],
  ['KAFKA_SASL_PASSWORD', 'a', /ConfigMap sluice-settings-\w+: expected KAFKA_SASL_PASSWORD in a Secret/],
  ['REDIS_URL', 'redis://:hunter2@redis:6379', /expected REDIS_URL in a Secret/],
  ['LISTINGS_TOKEN', 'abc', /expected LISTINGS_TOKEN in a Secret/],
  ['ANYTHING', '-----BEGIN EC PRIVATE KEY-----', /expected ANYTHING in a Secret/],
  ['PING_SECONDS', '-1', /PING_SECONDS: expected a whole number from 0 to 3600, got -1/],
  ['ORIGINS', 'https://REPLACE-WITH-SITE', /at data\.ORIGINS, got the example's REPLACE-WITH-SITE/],
  ['DRAIN_SECONDS', '300', /^Deployment sluice: expected terminationGracePeriodSeconds of more than 3\d\d,/m],
];

/** What is put into the container or the pod, or left out of it, and what is said of it. */
const PODS: readonly (readonly [place: string, value: unknown, expected: RegExp])[] = [
  ['pod.securityContext.runAsNonRoot', undefined, /expected runAsNonRoot: true/],
  ['pod.securityContext.runAsUser', 0, /runAsNonRoot: true, and no runAsUser: 0/],
  ['pod.securityContext.seccompProfile', undefined, /seccompProfile RuntimeDefault/],
  ['pod.automountServiceAccountToken', undefined, /automountServiceAccountToken: false/],
  ['pod.hostNetwork', true, /no hostNetwork/],
  ['container.securityContext.readOnlyRootFilesystem', undefined, /readOnlyRootFilesystem: true/],
  ['container.securityContext.allowPrivilegeEscalation', undefined, /allowPrivilegeEscalation: false/],
  ['container.securityContext.privileged', true, /no privileged: true/],
  ['container.securityContext.capabilities.add', ['NET_ADMIN'], /capabilities: all dropped, none added/],
  ['container.resources.limits.memory', undefined, /resources\.limits\.memory/],
  ['container.readinessProbe', undefined, /a readinessProbe/],
  ['container.image', 'a:5000/sluice:latest', /tag other than latest.*got a:5000\/sluice:latest/],
  ['container.image', 'a:5000/sluice', /tag other than latest.*got a:5000\/sluice/],
  ['container.env', [{ name: 'UAA_URL', value: 'http://uaa' }], /UAA_URL \(uaa:80\): .*, and it is closed/],
  [
    'container.env',
    [{ name: 'AUTH_SECRET', value: 'x' }],
    /container sluice: expected AUTH_SECRET in a Secr/,
  ],
];

const KAFKA_IS_CLOSED = /KAFKA_BROKERS \(.*\): expected egress of TCP \d+ to be open, and it is closed/;
const INTERNET = { ipBlock: { cidr: '0.0.0.0/0' } };

const OTHERS: readonly (readonly [what: string, change: Change, expected: RegExp])[] = [
  [
    'the admin port for all pods',
    ({ ingress }) => (ingress[1].from = [{ namespaceSelector: {} }]),
    /ADMIN_PORT: expected ingress of TCP 4001 to be open[^]*ingress of TCP 4001 is open for pods \(all\) of namespaces \(all\)/,
  ],
  ['ingress from all', ({ ingress }) => delete ingress[0].from, /expected ingress rules to say from whom/],
  ['egress to all', ({ toRedis }) => delete toRedis.to, /sluice-redis: expected egress rules to say to whom/],
  ['all ports', ({ toRedis }) => delete toRedis.ports, /sluice-redis: expected egress rules to name ports/],
  ['all of a protocol', ({ toRedis }) => delete toRedis.ports[0].port, /ports as numbers, got all of TCP/],
  [
    'a range of ports',
    ({ toKafka }) => (toKafka.ports[0].endPort = 9099),
    /sluice-kafka: egress of TCP 9093 to 9099 is open for .*, and no setting uses that/,
  ],
  [
    'a network more',
    ({ toKafka }) => toKafka.to.push({ ipBlock: { cidr: '10.0.0.0/8' } }),
    /egress of TCP 9092 is open for 10\.0\.0\.0\/8, and no setting uses that/,
  ],
  ['UDP in place of TCP', ({ toKafka }) => (toKafka.ports[0].protocol = 'UDP'), KAFKA_IS_CLOSED],
  [
    'another namespace',
    ({ settings, toKafka }) => {
      settings['KAFKA_BROKERS'] = 'kafka.streams.svc:9092';
      toKafka.to[0].namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } };
    },
    KAFKA_IS_CLOSED,
  ],
  ['no names', ({ egress }) => egress.pop(), /names of hosts \(DNS\): expected egress of UDP 53 to be open/],
  ['names of anyone', ({ egress }) => (egress[0].to = [INTERNET]), /is open for 0\.0\.0\.0\/0/],
  [
    'policies in another namespace',
    ({ policies }) => policies.forEach(({ metadata }) => Object.assign(metadata, { namespace: 'default' })),
    /expected a NetworkPolicy for its pods that closes egress, found none/,
  ],
  [
    'no egress policy',
    ({ policies }) => policies.forEach(({ spec }) => (spec.policyTypes = ['Ingress'])),
    /expected a NetworkPolicy for its pods that closes egress/,
  ],
  [
    'private networks as part of the internet',
    (manifests) => {
      manifests.settings['LISTINGS_URL'] = 'https://listings.example.com';
      manifests.open(INTERNET, 443);
    },
    /expected private networks among what 0\.0\.0\.0\/0 leaves out \(except\), got none with 10\.0\.0\.1, .*169\.254\.169\.254/,
  ],
  [
    'a reason for a port that is closed',
    (manifests) => manifests.annotate('ports-without-setting', '8443 of the former Redis'),
    /NetworkPolicy sluice: expected a rule for port 8443, which its annotation gives a reason for/,
  ],
  [
    'the port of pods that no setting leads to',
    (manifests) => manifests.annotate('pod-ports', 'listings.shop.svc:80 8080'),
    /expected a setting with listings\.shop\.svc:80, of which its annotation has the pods' port/,
  ],
  [
    'the port of pods without their Service',
    (manifests) => manifests.annotate('pod-ports', '8080'),
    /expected host:port and the port of its pods in sluice\/pod-ports, got 8080/,
  ],
  [
    'a port without a setting and without a reason',
    (manifests) => manifests.annotate('ports-without-setting', '443'),
    /expected a port and a reason in sluice\/ports-without-setting, got 443/,
  ],
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
    'a disruption budget for other pods',
    ({ budget }) => (budget.selector.matchLabels = { a: 'b' }),
    /expected a PodDisruptionBudget that selects its pods/,
  ],
  [
    'a disruption budget that lets no pod go',
    ({ budget }) => (budget.maxUnavailable = 0),
    /expected that pods may be evicted/,
  ],
  [
    'no gateway',
    (manifests) => (manifests.find('Deployment').spec.template.metadata.labels = { a: 'b' }),
    /expected pods with the label app\.kubernetes\.io\/name: sluice, found none/,
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
    (manifests) => manifests.mountMap({ mountPath: '/graph' }),
    /expected the ConfigMap more of a generator, with a hash in its name, as WATCH_GRAPH is not true/,
  ],
  [
    'a key that is read once',
    (manifests) => {
      manifests.mountMap({ mountPath: '/keys' });
      Object.assign(manifests.settings, { AUTH_PUBLIC_KEY: '/keys/tokens.pem', WATCH_GRAPH: 'true' });
    },
    /expected the ConfigMap more of a generator.*the file of AUTH_PUBLIC_KEY is read once/,
  ],
  [
    'a file that never changes',
    (manifests) => manifests.mountMap({ mountPath: '/etc/x', subPath: 'x' }),
    /expected the ConfigMap more of a generator.*subPath never changes/,
  ],
];

/** What is no fault. */
const TAKEN: Readonly<Record<string, Change>> = {
  'a network in which the brokers are, by name': ({ settings, toKafka }) => {
    settings['KAFKA_BROKERS'] = 'b-1.kafka.example.com:9092';
    toKafka.to = [{ ipBlock: { cidr: '10.1.0.0/16' } }];
  },
  'a network in which the brokers are, by address': ({ settings, toKafka }) => {
    settings['KAFKA_BROKERS'] = '10.1.2.3:9092';
    toKafka.to = [{ ipBlock: { cidr: '10.1.0.0/16' } }];
  },
  'a Service whose pods have another port': (manifests) => {
    manifests.settings['LISTINGS_URL'] = 'http://listings.shop.svc';
    manifests.annotate('pod-ports', 'listings.shop.svc:80 8080');
    manifests.open({ namespaceSelector: {} }, 8080);
  },
  'a port without a setting, with a reason': (manifests) => {
    manifests.annotate('ports-without-setting', '443 tokens of AWS, from its regional endpoint');
    manifests.open({ ipBlock: { cidr: '10.3.0.0/16' } }, 443);
  },
  'URLs to which no pod connects': ({ settings }) =>
    Object.assign(settings, {
      AUTH_PUBLIC_KEY: '/certificates/tokens.pem',
      AUTH_ISSUER: 'https://login.example.com/',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
      ORIGINS: 'https://www.example.com,https://shop.example.com',
    }),
  'a file that is read again, in a ConfigMap without a hash': (manifests) =>
    manifests.mountMap({ mountPath: '/etc/x' }),
};

describe('on manifests of production, the policy', needs('kubectl'), () => {
  let sound: readonly Manifest[];

  before(async () => {
    sound = (await Overlay.build(path.join(KUBERNETES, 'overlays/production'))).filledIn().manifests;
    assert.deepEqual(judge(sound).faults, []);
  });

  const judged = (change: Change) => {
    const changed = new Manifests(sound);
    change(changed);
    return judge(changed.all);
  };

  const refuses = (what: string, change: Change, expected: RegExp): void => {
    it(`refuses ${what}`, () => assert.match(judged(change).faults.join('\n'), expected));
  };

  for (const [name, value, expected] of SETTINGS)
    refuses(`${name}=${value}`, ({ settings }) => (settings[name] = value), expected);
  for (const [place, value, expected] of PODS)
    refuses(
      `${JSON.stringify(value) ?? 'nothing'} as ${place}`,
      (manifests) => manifests.put(place, value),
      expected,
    );
  for (const [what, change, expected] of OTHERS) refuses(what, change, expected);
  for (const [what, change] of Object.entries(TAKEN))
    it(`takes ${what}`, () => assert.deepEqual(judged(change).faults, []));

  for (const [name, value, server] of CLOSED) {
    it(`refuses ${name}=${value}, where the network is closed`, () => {
      const { faults } = judged(({ settings }) => {
        if (name === 'REDIS_CLUSTER') settings['REDIS_URL'] = '';
        settings[name] = value;
      });
      const fault = `${name} (${server}): expected egress of TCP ${server.split(':').at(-1)} to be open, and it is closed`;
      assert.ok(
        faults.some((each) => each.endsWith(fault)),
        faults.join('\n'),
      );
    });
  }

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

  it('takes variables and files that something else makes, and says which changes wait for a rollout', () => {
    const { faults, notes } = judged(
      ({ settings }) => (settings['AUTH_PUBLIC_KEY'] = '/certificates/tokens.pem'),
    );
    assert.deepEqual(faults, []);
    const said = notes.join('\n');
    assert.match(said, /the Secret sluice-secrets,.*, as its variables are read once$/m);
    assert.match(said, /the Secret sluice-certificates,.*, as the file of AUTH_PUBLIC_KEY is read once$/m);
  });
});
