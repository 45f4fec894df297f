import { parseAllDocuments } from 'yaml';

/** A Kubernetes object, as loose as YAML is. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- every kind has its own shape, and the schemas check it
  readonly spec: any;
  readonly data?: Readonly<Record<string, string>>;
}

/** A container of a pod, as far as rules look at it. */
export type Container = Manifest['spec'];

/** A selector of pods or namespaces. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export const GATEWAY_LABEL = 'app.kubernetes.io/name';
const GATEWAY = 'sluice';

export const parseManifests = (yaml: string): Manifest[] =>
  parseAllDocuments(yaml)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);

/** How faults name an object. */
export const titleOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

/** Objects that make pods: Deployments and the like. */
export const workloadsOf = (manifests: readonly Manifest[]): Manifest[] =>
  manifests.filter(({ spec }) => spec?.template?.spec?.containers !== undefined);

/** Returns the manifests whose pods are gateways. */
export const gatewaysOf = (manifests: readonly Manifest[]): Manifest[] =>
  workloadsOf(manifests).filter((workload) => podLabels(workload)[GATEWAY_LABEL] === GATEWAY);

export const podLabels = ({ spec }: Manifest): Readonly<Record<string, string>> =>
  spec.template.metadata?.labels ?? {};

export const containersOf = ({ spec }: Manifest): Container[] => [
  ...(spec.template.spec.initContainers ?? []),
  ...spec.template.spec.containers,
];

export const isBeside = (one: Manifest, other: Manifest): boolean =>
  one.metadata.namespace === other.metadata.namespace;

/** Whether a selector is for these labels; an empty one is for all. */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      const isOne = value !== undefined && values.includes(value);
      return operator === 'In' ? isOne : !isOne;
    })
  );
}

/** The values of a ConfigMap or a Secret, the latter's decoded. */
export function valuesOf({ kind, data = {}, ...rest }: Manifest): Record<string, string> {
  if (kind !== 'Secret') return { ...data };
  const decoded = Object.entries(data).map(([name, value]) => [
    name,
    Buffer.from(value, 'base64').toString(),
  ]);
  const { stringData } = rest as { stringData?: Record<string, string> };
  return { ...Object.fromEntries(decoded), ...stringData };
}

/** The environment of a container, of what the manifests hold: a Secret that something else makes is not known here. */
export function environmentOf(
  manifests: readonly Manifest[],
  workload: Manifest,
  container: Container,
): Record<string, string> {
  const values = (kind: string, name: string): Record<string, string> => {
    const source = manifests.find(
      (one) => one.kind === kind && one.metadata.name === name && isBeside(one, workload),
    );
    return source === undefined ? {} : valuesOf(source);
  };
  const environment: Record<string, string> = {};
  // Of two sources the later one counts.
  for (const { configMapRef, secretRef, prefix = '' } of container.envFrom ?? []) {
    const found =
      configMapRef === undefined ? values('Secret', secretRef.name) : values('ConfigMap', configMapRef.name);
    for (const [name, value] of Object.entries(found)) environment[prefix + name] = value;
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
    if (value !== undefined) environment[name] = value;
    const referred =
      configMapKeyRef === undefined
        ? values('Secret', secretKeyRef?.name)[secretKeyRef?.key]
        : values('ConfigMap', configMapKeyRef.name)[configMapKeyRef.key];
    if (referred !== undefined) environment[name] = referred;
  }
  return environment;
}

/** What there is to say of each container of gateways. @param about is given its environment */
export const ofContainers = (
  manifests: readonly Manifest[],
  about: (gateway: Manifest, container: Container, environment: Record<string, string>) => readonly string[],
): string[] =>
  gatewaysOf(manifests).flatMap((gateway) =>
    gateway.spec.template.spec.containers.flatMap((container: Container) =>
      about(gateway, container, environmentOf(manifests, gateway, container)),
    ),
  );
