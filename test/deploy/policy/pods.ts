import {
  containersOf,
  gatewaysOf,
  isBeside,
  podLabels,
  selects,
  titleOf,
  workloadsOf,
  type Container,
  type Manifest,
} from './manifests.ts';

const PROBES = ['startupProbe', 'livenessProbe', 'readinessProbe'] as const;

/** Rules on pods: rights, limits, probes, images; and on gateways, that nodes are emptied one pod at a time. */
export function podFaults(manifests: readonly Manifest[]): string[] {
  return [
    ...workloadsOf(manifests).flatMap((workload) => [
      ...podSpecFaults(workload.spec.template.spec).map((fault) => `${titleOf(workload)}: ${fault}`),
      ...containersOf(workload).flatMap((container) =>
        containerFaults(container, workload).map(
          (fault) => `${titleOf(workload)}, container ${container.name}: ${fault}`,
        ),
      ),
    ]),
    ...gatewaysOf(manifests).flatMap((gateway) => disruptionFaults(manifests, gateway)),
  ];
}

function podSpecFaults(spec: Manifest['spec']): string[] {
  const faults = ['hostNetwork', 'hostPID', 'hostIPC']
    .filter((name) => spec[name] === true)
    .map((name) => `expected no ${name}`);
  if (spec.automountServiceAccountToken !== false) {
    faults.push('expected automountServiceAccountToken: false, as the gateway asks nothing of Kubernetes');
  }
  for (const { name, hostPath } of spec.volumes ?? []) {
    if (hostPath !== undefined) faults.push(`expected no hostPath, got one in the volume ${name}`);
  }
  return faults;
}

function containerFaults(container: Container, { spec }: Manifest): string[] {
  const pod = spec.template.spec.securityContext ?? {};
  const own = container.securityContext ?? {};
  const { runAsNonRoot, runAsUser, seccompProfile } = { ...pod, ...own };
  const faults: string[] = [];
  const expect = (holds: boolean, expected: string): unknown => holds || faults.push(`expected ${expected}`);
  expect(runAsNonRoot === true && runAsUser !== 0, 'runAsNonRoot: true, and no runAsUser: 0');
  expect(seccompProfile?.type === 'RuntimeDefault', 'seccompProfile RuntimeDefault');
  expect(own.allowPrivilegeEscalation === false, 'allowPrivilegeEscalation: false');
  expect(own.privileged !== true, 'no privileged: true');
  expect(own.readOnlyRootFilesystem === true, 'readOnlyRootFilesystem: true');
  expect(
    own.capabilities?.drop?.includes('ALL') === true && (own.capabilities.add ?? []).length === 0,
    'capabilities: all dropped, none added',
  );
  for (const kind of ['requests', 'limits'] as const) {
    for (const resource of ['cpu', 'memory']) {
      expect(container.resources?.[kind]?.[resource] !== undefined, `resources.${kind}.${resource}`);
    }
  }
  const isInit = (spec.template.spec.initContainers ?? []).includes(container);
  if (!isInit) for (const probe of PROBES) expect(container[probe] !== undefined, `a ${probe}`);
  const fault = imageFault(container.image);
  if (fault !== undefined) faults.push(fault);
  return faults;
}

/** Tells what is wrong with an image's name. Of two images under one tag, it would be chance which one a pod runs. */
function imageFault(image: string): string | undefined {
  const [, tag, digest] = /^[^@]*?(?::([^/:@]+))?(@sha256:.+)?$/.exec(image) ?? [];
  if (digest !== undefined || (tag !== undefined && tag !== 'latest')) return undefined;
  return `expected an image with a tag other than latest, or with a digest, got ${image}`;
}

function disruptionFaults(manifests: readonly Manifest[], gateway: Manifest): string[] {
  const budgets = manifests.filter(
    (one) =>
      one.kind === 'PodDisruptionBudget' &&
      isBeside(one, gateway) &&
      selects(one.spec.selector ?? {}, podLabels(gateway)),
  );
  if (budgets.length === 0)
    return [`${titleOf(gateway)}: expected a PodDisruptionBudget that selects its pods`];
  return budgets
    .filter(({ spec }) => [0, '0', '0%'].includes(spec.maxUnavailable) || spec.minAvailable === '100%')
    .map((budget) => `${titleOf(budget)}: expected that pods may be evicted, or nodes can't be emptied`);
}
