import { SETTINGS } from '../../../src/config/settings.ts';
import type { Setting } from '../../../src/config/types.ts';
import { containersOf, titleOf, valuesOf, workloadsOf, type Manifest } from './manifests.ts';

/** The names of variables that are no settings, and that a graph's code reads. */
const SECRET_NAME = /(PASSWORD|PASSPHRASE|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY|CREDENTIALS)$/i;

const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;

/** Secrets stand in Secrets: neither in ConfigMaps nor in the manifests of pods, which more people may read. */
export function secretFaults(manifests: readonly Manifest[]): string[] {
  const maps = manifests
    .filter(({ kind }) => kind === 'ConfigMap')
    .flatMap((map) => faultsOf(titleOf(map), Object.entries(valuesOf(map))));
  const pods = workloadsOf(manifests).flatMap((workload) =>
    containersOf(workload).flatMap(({ name, env = [] }) =>
      faultsOf(
        `${titleOf(workload)}, container ${name}`,
        env.map((one: { name: string; value?: string }) => [one.name, one.value ?? '']),
      ),
    ),
  );
  return [...maps, ...pods];
}

const faultsOf = (where: string, entries: readonly (readonly [string, string])[]): string[] =>
  entries
    .filter(([name, value]) => value !== '' && isSecret(name, value))
    .map(([name]) => `${where}: expected ${name} in a Secret`);

function isSecret(name: string, value: string): boolean {
  const setting = (SETTINGS as Record<string, Setting<unknown>>)[name];
  const isNamed = setting === undefined ? SECRET_NAME.test(name) : setting.secret === 'all';
  return isNamed || PRIVATE_KEY.test(value) || (URL.canParse(value) && new URL(value).password !== '');
}
