import path from 'node:path';
import { ofContainers, titleOf, type Container, type Manifest } from './manifests.ts';

/** Settings that name a file, which has to be there when the gateway starts. */
const OF_FILES =
  /^((KAFKA|REDIS)_(CA|CERT|KEY)|TLS_(CERT|KEY)|AUTH_PUBLIC_KEY|PERSISTED_DOCUMENTS|(KAFKA|REDIS)_\w+_FILE)$/;

/** Files in no volume: an image may hold them, which is not seen here. */
export const fileNotes = (manifests: readonly Manifest[]): string[] =>
  ofContainers(manifests, (gateway, container, environment) =>
    Object.entries(environment)
      .filter(([name, file]) => OF_FILES.test(name) && file !== '' && !isMounted(container, file))
      .map(
        ([name, file]) =>
          `${titleOf(gateway)}: ${name}: no volume is mounted at ${file}, so that the image must hold it`,
      ),
  );

function isMounted({ volumeMounts = [] }: Container, file: string): boolean {
  return volumeMounts.some(
    ({ mountPath }: { readonly mountPath: string }) => !path.relative(mountPath, file).startsWith('..'),
  );
}
