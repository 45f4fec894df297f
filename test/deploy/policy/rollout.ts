import { environmentOf, gatewaysOf, isBeside, titleOf, type Container, type Manifest } from './manifests.ts';

/** What kustomize's generators put behind a name: a hash of the content, in these letters only. */
const HASHED = /-[bcdfghkmt2456789]{10}$/;

/** How a pod uses a ConfigMap or Secret. */
interface Use {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  /** Where its files are; undefined for variables, which a process reads once. */
  readonly mounts: readonly { readonly mountPath: string; readonly subPath?: string }[] | undefined;
}

/** Settings whose files are read at the start only: the graph's, unless it is watched, goes by its folder. */
const READ_ONCE = ['AUTH_PUBLIC_KEY', 'PERSISTED_DOCUMENTS'] as const;

type Environment = Readonly<Record<string, string>>;

/**
 * A change of what pods read is a rolling update, by a name with a hash, or is read again. What these manifests do not make
 * has no such name: see `rolloutNotes`.
 */
export const rolloutFaults = (manifests: readonly Manifest[]): string[] =>
  unseenChanges(manifests)
    .filter(({ gateway, use }) => isHere(manifests, gateway, use))
    .map(
      ({ gateway, use: { kind, name }, reason }) =>
        `${titleOf(gateway)}: expected the ${kind} ${name} of a generator, with a hash in its name, as ${reason}`,
    );

/** What something else makes, and pods do not read again. */
export const rolloutNotes = (manifests: readonly Manifest[]): string[] =>
  unseenChanges(manifests)
    .filter(({ gateway, use }) => !isHere(manifests, gateway, use))
    .map(
      ({ gateway, use: { kind, name }, reason }) =>
        `${titleOf(gateway)}: the ${kind} ${name}, if there is one, is not made here: its changes wait for a rollout, as ${reason}`,
    );

/** What changes while pods go on with what it was before. */
function unseenChanges(
  manifests: readonly Manifest[],
): { readonly gateway: Manifest; readonly use: Use; readonly reason: string }[] {
  return gatewaysOf(manifests).flatMap((gateway) =>
    gateway.spec.template.spec.containers.flatMap((container: Container) => {
      const environment = environmentOf(manifests, gateway, container);
      return usesOf(gateway, container)
        .filter(({ name }) => !HASHED.test(name))
        .map((use) => ({ gateway, use, reason: reasonOf(use, environment) }))
        .filter(({ reason }) => reason !== undefined);
    }),
  );
}

/** Why a change is not seen; undefined where it is. */
function reasonOf({ mounts }: Use, environment: Environment): string | undefined {
  if (mounts === undefined) return 'its variables are read once';
  if (mounts.some(({ subPath }) => subPath !== undefined)) {
    return 'a file that is mounted by subPath never changes';
  }
  const isGraph = mounts.some(({ mountPath }) => mountPath === environment['GRAPH']);
  if (isGraph && environment['WATCH_GRAPH'] !== 'true') return 'WATCH_GRAPH is not true';
  const once = READ_ONCE.find((name) =>
    mounts.some(({ mountPath }) => environment[name]?.startsWith(`${mountPath}/`)),
  );
  return once === undefined ? undefined : `the file of ${once} is read once`;
}

const isHere = (manifests: readonly Manifest[], gateway: Manifest, { kind, name }: Use): boolean =>
  manifests.some((one) => one.kind === kind && one.metadata.name === name && isBeside(one, gateway));

function usesOf({ spec }: Manifest, container: Container): Use[] {
  const variables = [
    ...(container.envFrom ?? []),
    ...(container.env ?? []).map(({ valueFrom = {} }: Container) => ({
      configMapRef: valueFrom.configMapKeyRef,
      secretRef: valueFrom.secretKeyRef,
    })),
  ].map(({ configMapRef, secretRef }) => ({ configMap: configMapRef?.name, secret: secretRef?.name }));
  const files = (spec.template.spec.volumes ?? []).flatMap(
    ({ name, configMap, secret, projected }: Container) => {
      const mounts = (container.volumeMounts ?? []).filter((mount: { name: string }) => mount.name === name);
      const sources = [{ configMap, secret }, ...(projected?.sources ?? [])];
      return sources.map((source) => ({
        configMap: source.configMap?.name,
        secret: source.secret?.secretName ?? source.secret?.name,
        mounts,
      }));
    },
  );
  return [...variables, ...files].flatMap(({ configMap, secret, mounts }) => [
    ...(configMap === undefined ? [] : [{ kind: 'ConfigMap' as const, name: configMap, mounts }]),
    ...(secret === undefined ? [] : [{ kind: 'Secret' as const, name: secret, mounts }]),
  ]);
}
