import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { needs } from '../helpers/services.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { Overlay } from '../helpers/deploy/kubernetes.ts';
import { monitoringFaults } from '../helpers/deploy/monitoring.ts';
import type { Manifest } from './policy/manifests.ts';

const DEPLOY = path.join(import.meta.dirname, '../../../deploy');
const anyGateway = sharedGateway((scope) => startGateway(scope, {}));

const LABELS = { 'app.kubernetes.io/name': 'sluice' };

/** A part of a manifest. */
type Loose = Manifest['spec'];

const named = (all: readonly Loose[], wanted: string): Loose => all.find(({ name }) => name === wanted);

/** The port of the container to which one of the Service leads. */
const targetOf = (overlay: Overlay, port: string): number | undefined =>
  overlay.portOf(named(overlay.get('Service').spec.ports, port).targetPort);

for (const name of ['dev', 'production']) {
  describe(`the overlay ${name}`, needs('kubectl'), () => {
    let overlay: Overlay;
    let config: ReturnType<typeof loadConfig>;

    before(async () => {
      overlay = (await Overlay.build(path.join(DEPLOY, 'kubernetes/overlays', name))).filledIn();
      config = loadConfig(overlay.settings);
    });

    it('sets only variables that are settings, and serves GraphiQL in development only, at every host', () => {
      for (const setting of Object.keys(overlay.settings)) assert.ok(setting in config, setting);
      assert.ok(config.KAFKA_BROKERS.length > 0 && config.REDIS_URL !== undefined);
      const pod = loadConfig({ ...overlay.settings, KUBERNETES_SERVICE_HOST: '10.0.0.1' });
      assert.deepEqual([pod.GRAPHIQL, pod.HOSTS], [name === 'dev', ['*']]);
    });

    it('probes paths that a gateway answers, on the ports where it does', async () => {
      const gateway = await anyGateway();
      const { startupProbe, livenessProbe, readinessProbe } = overlay.container;
      for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
        assert.equal(overlay.portOf(httpGet.port), config.ADMIN_PORT);
        assert.equal((await fetch(gateway.adminUrl + httpGet.path)).status, 200, httpGet.path);
      }
      assert.equal((await fetch(`${gateway.adminUrl}/no-such-path`)).status, 404);
      assert.equal(overlay.portOf('graphql'), config.PORT);
    });

    it('gives a pod more time to end than it takes to drain', () => {
      const drained = config.DRAIN_DELAY_SECONDS + config.DRAIN_SECONDS;
      assert.ok(overlay.podSpec.terminationGracePeriodSeconds >= drained + 10, `${drained} s to drain`);
    });

    it('never has fewer pods during an update, and lets nodes evict one pod at a time', () => {
      const { strategy, replicas } = overlay.get('Deployment').spec;
      assert.equal(strategy.rollingUpdate.maxUnavailable, 0);
      assert.ok(strategy.rollingUpdate.maxSurge >= 1);
      assert.equal(overlay.get('PodDisruptionBudget').spec.maxUnavailable, 1);
      assert.equal(replicas, undefined, 'the autoscaler’s');
    });

    it('selects and spreads its pods by the labels that they have, and reserves the memory that they may use', () => {
      const { selector, template } = overlay.get('Deployment').spec;
      const spread: readonly { topologyKey: string; labelSelector: object }[] =
        overlay.podSpec.topologySpreadConstraints;
      assert.deepEqual(template.metadata.labels, LABELS);
      assert.deepEqual(selector.matchLabels, LABELS);
      assert.deepEqual(overlay.get('Service').spec.selector, LABELS);
      assert.deepEqual(overlay.get('PodDisruptionBudget').spec.selector.matchLabels, LABELS);
      assert.deepEqual(
        spread.map(({ topologyKey, labelSelector }) => ({ topologyKey, labelSelector })),
        ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
          topologyKey,
          labelSelector: { matchLabels: LABELS },
        })),
      );
      // Memory that is not reserved may be missing when the heap, whose limit follows the memory limit, needs it.
      const { requests, limits } = overlay.container.resources;
      assert.equal(requests.memory, limits.memory);
    });

    it('is closed but for browsers, Prometheus, Kafka, Redis and names', () => {
      const policies = overlay.manifests.filter(({ kind }) => kind === 'NetworkPolicy');
      assert.deepEqual(
        policies.map(({ metadata, spec }) => [
          metadata.name,
          spec.policyTypes,
          portsOf(spec.ingress),
          portsOf(spec.egress),
        ]),
        [
          ['sluice', ['Ingress', 'Egress'], ['TCP 4000', 'TCP 4001'], ['UDP 53', 'TCP 53']],
          ['sluice-kafka', ['Egress'], [], ['TCP 9092']],
          ['sluice-redis', ['Egress'], [], ['TCP 6379']],
        ],
      );
      for (const { spec } of policies) assert.deepEqual(spec.podSelector.matchLabels, LABELS);
      // A cluster has names from pods of its own, or from a cache on each node.
      assert.deepEqual(policies[0]?.spec.egress[0].to, [
        { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } },
        { ipBlock: { cidr: '169.254.20.10/32' } },
      ]);
    });

    it('keeps quiet sockets open through the ingress, which leads to the public port only', () => {
      const { metadata, spec } = overlay.get('Ingress');
      const { annotations = {} } = metadata;
      const timeouts = Object.entries(annotations).filter(([key]) => /proxy-(read|send)-timeout$/.test(key));
      assert.equal(timeouts.length, 4, 'of both controllers');
      for (const [key, value] of timeouts) {
        assert.ok(Number.parseInt(value, 10) >= 2 * config.PING_SECONDS, `${key}: ${value}`);
      }
      const paths = spec.rules.flatMap((rule: Loose) => rule.http.paths);
      for (const { service } of paths.map(({ backend }: Loose) => backend)) {
        assert.equal(service.name, overlay.get('Service').metadata.name);
        assert.equal(targetOf(overlay, service.port.name), config.PORT);
      }
      assert.equal(annotations['nginx.org/websocket-services'], overlay.get('Service').metadata.name);
    });

    it('lets Prometheus find the metrics', async () => {
      const monitor = overlay.find('ServiceMonitor');
      if (name === 'dev') return assert.equal(monitor, undefined, 'none in dev');
      assert.ok(monitor);
      assert.equal(monitor.spec.endpoints.length, 1);
      const gateway = await anyGateway();
      for (const { port, path: route } of monitor.spec.endpoints) {
        assert.equal(targetOf(overlay, port), config.ADMIN_PORT);
        assert.match(await (await fetch(gateway.adminUrl + route)).text(), /^sluice_connections 0$/m);
      }
      return undefined;
    });

    it('scales by metrics of the adapter, and scales down slowly', async () => {
      const autoscaler = overlay.find('HorizontalPodAutoscaler');
      if (name === 'dev') return assert.equal(autoscaler, undefined, 'none in dev');
      const { scaleTargetRef, metrics, behavior, minReplicas } = autoscaler?.spec ?? {};
      assert.equal(scaleTargetRef.name, overlay.get('Deployment').metadata.name);
      const { rules } = parse(await readFile(path.join(DEPLOY, 'prometheus/adapter-rules.yaml'), 'utf8')) as {
        rules: { name: { as: string } }[];
      };
      assert.deepEqual(
        metrics.flatMap(({ pods }: Loose) => pods?.metric.name ?? []),
        rules.map((rule) => rule.name.as),
      );
      assert.ok(metrics.some(({ resource }: Loose) => resource?.name === 'memory'));
      assert.ok(minReplicas >= 2);
      assert.ok(behavior.scaleDown.stabilizationWindowSeconds >= 600);
      assert.deepEqual(behavior.scaleDown.policies, [{ type: 'Pods', value: 1, periodSeconds: 300 }]);
      return undefined;
    });
  });
}

describe('the overlay dev by itself', needs('kubectl'), () => {
  it('runs in an image that a developer has just built and loaded into the node', async () => {
    const { container } = await Overlay.build(path.join(DEPLOY, 'kubernetes/overlays/dev'));
    assert.equal(container.image, 'sluice:dev');
    assert.equal(container.imagePullPolicy, 'IfNotPresent');
  });

  it('loads a graph that Kubernetes mounts from a ConfigMap: links to files in a folder that changes', async (t) => {
    const overlay = await Overlay.build(path.join(DEPLOY, 'kubernetes/overlays/dev'));
    const mount = overlay.container.volumeMounts.find(
      ({ mountPath }: Loose) => mountPath === overlay.settings['GRAPH'],
    );
    const volume = named(overlay.podSpec.volumes, mount.name);
    const folder = await graphFolder(t, {});
    await mkdir(path.join(folder, '..2026_01_01'));
    await symlink('..2026_01_01', path.join(folder, '..data'));
    const files = overlay.get('ConfigMap', volume.configMap.name).data ?? {};
    // Code, too, is looked up where it lies, and must find the gateway's own modules from there.
    const code = {
      'graph.ts':
        "import { defineGraph } from 'sluice'; import { empty } from './empty.ts'; export default defineGraph(empty);",
      'empty.ts': 'export const empty: object = {};',
    };
    for (const [file, text] of Object.entries({ ...files, ...code })) {
      await writeFile(path.join(folder, '..data', file), text);
      await symlink(`..data/${file}`, path.join(folder, file));
    }
    const gateway = await startGateway(t, { GRAPH: folder });
    await gateway.untilReady();
  });
});

describe('certificates', needs('kubectl'), () => {
  it('are in a folder of the pod, if there is a secret with them, and the one that a kustomization makes', async (t) => {
    const overlay = await withMore(t, {
      resources: ['../kubernetes/base'],
      namespace: 'sluice',
      secretGenerator: [{ name: 'sluice-certificates', literals: ['kafka.crt=x'] }],
    });
    const { secret } = named(overlay.podSpec.volumes, 'certificates');
    assert.equal(secret.optional, true);
    assert.match(secret.secretName, /^sluice-certificates-\w+$/);
    const mount = named(overlay.container.volumeMounts, 'certificates');
    assert.deepEqual(mount, { name: 'certificates', mountPath: '/certificates', readOnly: true });
  });
});

describe('the label of kube-prometheus-stack', needs('kubectl'), () => {
  it('goes to the objects that it looks for, and into no selector', async (t) => {
    const labels = [{ pairs: { release: 'kube-prometheus-stack' } }];
    const overlay = await withMore(t, { resources: ['../kubernetes/overlays/production'], labels });
    for (const kind of ['ServiceMonitor', 'PrometheusRule']) {
      const { labels: given } = overlay.get(kind).metadata as Loose;
      assert.equal(given.release, 'kube-prometheus-stack');
    }
    assert.deepEqual(overlay.get('Deployment').spec.selector.matchLabels, LABELS);
    assert.deepEqual(overlay.get('ServiceMonitor').spec.selector.matchLabels, LABELS);
  });
});

/** The overlay for development, with what a kustomization of one's own adds. */
const withMore = (t: TestContext, more: object): Promise<Overlay> =>
  Overlay.of(t, { resources: ['../kubernetes/overlays/dev'], ...more });

describe('the component tracing', needs('kubectl'), () => {
  it('sends traces to a collector, under the name of the pod, and lets them through the network policy', async (t) => {
    const overlay = await withMore(t, { components: ['../kubernetes/components/tracing'] });
    const { hostname, port } = new URL(overlay.settings['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '');
    const [service, namespace] = hostname.split('.');
    const { egress } = overlay.get('NetworkPolicy', 'sluice').spec;
    const { to, ports } = egress.at(-1);
    assert.deepEqual(ports, [{ port: Number(port), protocol: 'TCP' }]);
    const [{ namespaceSelector, podSelector }] = to;
    assert.equal(namespaceSelector.matchLabels['kubernetes.io/metadata.name'], namespace);
    assert.equal(podSelector.matchLabels['app.kubernetes.io/name'], service);
    assert.deepEqual(
      overlay.container.env.map(({ name, value }: Loose) => [name, value]),
      [
        ['POD_NAME', undefined],
        ['OTEL_RESOURCE_ATTRIBUTES', 'k8s.pod.name=$(POD_NAME)'],
      ],
    );
  });
});

describe('the component tls', needs('kubectl'), () => {
  it('mounts the folder of the secret, where the settings look for the files, for the user of the pod', async (t) => {
    const overlay = await withMore(t, { components: ['../kubernetes/components/tls'] });
    const { podSpec } = overlay;
    const { mountPath, subPath } = named(overlay.container.volumeMounts, 'tls');
    assert.equal(subPath, undefined);
    assert.equal(overlay.settings['TLS_CERT'], `${mountPath}/tls.crt`);
    assert.equal(overlay.settings['TLS_KEY'], `${mountPath}/tls.key`);
    const { secret } = named(podSpec.volumes, 'tls');
    assert.deepEqual(secret, { secretName: 'sluice-tls', defaultMode: 0o440 });
    assert.equal(podSpec.securityContext.fsGroup, podSpec.securityContext.runAsGroup);
    const { annotations = {} } = overlay.get('Ingress').metadata;
    assert.equal(annotations['nginx.ingress.kubernetes.io/backend-protocol'], 'HTTPS');
  });
});

const monitorFaults = (more: object) =>
  monitoringFaults({ kind: 'ServiceMonitor', spec: { selector: { matchLabels: LABELS }, ...more } });

describe('the check of the operator’s kinds', () => {
  it('refuses fields that are missing, wrong or unknown', () => {
    const endpoint = { port: 'admin', path: '/metrics', interval: '15s', scrapeTimeout: '10s' };
    assert.deepEqual(monitorFaults({ endpoints: [endpoint] }), []);
    assert.deepEqual(monitorFaults({}), ['ServiceMonitor.endpoints: expected a list']);
    assert.deepEqual(monitorFaults({ endpoints: [{ ...endpoint, interval: 15, targetport: 1 }] }), [
      'ServiceMonitor.endpoints[0].targetport: unknown',
      'ServiceMonitor.endpoints[0].interval: expected /^\\d+(s|m|h)$/, got 15',
    ]);
  });
});

function portsOf(rules: readonly { ports: readonly { port: number; protocol?: string }[] }[] = []): string[] {
  const ports = rules.flatMap((rule) => rule.ports);
  return [...new Set(ports.map(({ port, protocol = 'TCP' }) => `${protocol} ${port}`))];
}
