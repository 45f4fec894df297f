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

/**
 * A change of what pods read is a rolling update, by a name with a hash, or is read again, as files are. A Secret that
 * something else makes can't be judged: see `rolloutNotes`.
 */
export function rolloutFaults(manifests: readonly Manifest[]): string[] {
  return gatewaysOf(manifests).flatMap((gateway) =>
    gateway.spec.template.spec.containers.flatMap((container: Container) => {
      const environment = environmentOf(manifests, gateway, container);
      return usesOf(gateway, container)
        .filter((use) => isHere(manifests, gateway, use) && !HASHED.test(use.name))
        .flatMap((use) => {
          const fault = faultOf(use, environment);
          return fault === undefined ? [] : [`${titleOf(gateway)}: ${fault}`];
        });
    }),
  );
}

/** Variables that come from elsewhere. */
export function rolloutNotes(manifests: readonly Manifest[]): string[] {
  return gatewaysOf(manifests).flatMap((gateway) =>
    gateway.spec.template.spec.containers.flatMap((container: Container) =>
      usesOf(gateway, container)
        .filter((use) => use.mounts === undefined && !isHere(manifests, gateway, use))
        .map(
          ({ kind, name }) =>
            `${titleOf(gateway)}: variables of the ${kind} ${name} are not known here; if there is one, its changes wait for a rollout`,
        ),
    ),
  );
}

function faultOf(
  { kind, name, mounts }: Use,
  environment: Readonly<Record<string, string>>,
): string | undefined {
  const expected = `expected the ${kind} ${name} of a generator, with a hash in its name`;
  if (mounts === undefined) return `${expected}, as its variables are read once`;
  if (mounts.some(({ subPath }) => subPath !== undefined)) {
    return `${expected}, as a file that is mounted by subPath never changes`;
  }
  const isGraph = mounts.some(({ mountPath }) => mountPath === environment['GRAPH']);
  if (isGraph && environment['WATCH_GRAPH'] !== 'true') return `${expected}, or WATCH_GRAPH=true`;
  return undefined;
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
