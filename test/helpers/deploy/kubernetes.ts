import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { parseManifests, type Manifest } from '../../deploy/policy/manifests.ts';
import type { Scope } from '../scope.ts';
import { deployTool } from '../services.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { monitoringFaults } from './monitoring.ts';

export const KUBERNETES = path.join(import.meta.dirname, '../../../../deploy/kubernetes');

/** A user's values in place of the example values in deploy/kubernetes. */
const VALUES: Readonly<Record<string, string>> = {
  'REPLACE-WITH-REGISTRY': 'registry.example.com',
  'REPLACE-WITH-TAG': '0.1.0',
  'REPLACE-WITH-BROKER': 'broker.example.com',
  'REPLACE-WITH-SITE': 'www.example.com',
  'REPLACE-WITH-HOST': 'live.example.com',
  'REPLACE-WITH-USER': 'shop',
  'REPLACE-WITH-PASSWORD': 'hunter2',
  'REPLACE-WITH-REDIS': 'redis.example.com',
  'REPLACE-WITH-NETWORK-OF-KAFKA': '10.1.0.0/16',
  'REPLACE-WITH-NETWORK-OF-REDIS': '10.2.0.0/16',
  'REPLACE-WITH-NETWORKS-OF-PROXIES': '10.0.0.0/8',
};

/** Puts a user's values in place of the example values. */
export const filledIn = (text: string): string =>
  text.replaceAll(/REPLACE-WITH-[A-Z-]+/g, (found) => {
    const value = VALUES[found];
    if (value === undefined) throw new Error(`Expected a value for ${found}.`);
    return value;
  });

/** The manifests that an overlay gives. Needs 'kubectl'. */
export class Overlay {
  readonly yaml: string;
  readonly manifests: readonly Manifest[];

  private constructor(yaml: string) {
    this.yaml = yaml;
    this.manifests = parseManifests(yaml);
  }

  static async build(folder: string): Promise<Overlay> {
    const { stdout } = await promisify(execFile)(deployTool('kubectl'), ['kustomize', folder]);
    return new Overlay(stdout);
  }

  /** Builds a user's kustomization, in a folder beside that of the manifests: `../kubernetes`. */
  static async of(scope: Scope, kustomization: object): Promise<Overlay> {
    const folder = await temporaryFolder(scope);
    await symlink(KUBERNETES, path.join(folder, 'kubernetes'));
    const mine = path.join(folder, 'mine');
    await mkdir(mine);
    await writeFile(path.join(mine, 'kustomization.yaml'), JSON.stringify(kustomization));
    return Overlay.build(mine);
  }

  /** Returns the overlay with a user's values; values in Secrets stay. */
  filledIn(): Overlay {
    return new Overlay(filledIn(this.yaml));
  }

  find(kind: string): Manifest | undefined {
    return this.manifests.find((manifest) => manifest.kind === kind);
  }

  get(kind: string, name?: string): Manifest {
    const found = this.manifests.filter(
      (manifest) => manifest.kind === kind && (name === undefined || manifest.metadata.name === name),
    );
    if (found.length !== 1 || found[0] === undefined)
      throw new Error(`Expected one ${kind}, got ${found.length}.`);
    return found[0];
  }

  get podSpec() {
    return this.get('Deployment').spec.template.spec;
  }

  get container() {
    return this.podSpec.containers[0];
  }

  /** The pod template: a difference makes the Deployment replace its pods. */
  get template(): unknown {
    return this.get('Deployment').spec.template;
  }

  /** The environment of the container, without secrets. */
  get settings(): Record<string, string> {
    const settings: Record<string, string> = {};
    for (const { configMapRef } of this.container.envFrom) {
      if (configMapRef !== undefined) Object.assign(settings, this.get('ConfigMap', configMapRef.name).data);
    }
    for (const { name, value } of this.container.env ?? []) settings[name] = value;
    return settings;
  }

  /** The environment of the container, with secrets that the overlay makes. */
  get environment(): Record<string, string> {
    const environment: Record<string, string> = {};
    for (const { configMapRef, secretRef } of this.container.envFrom) {
      // The later of two sources counts.
      if (configMapRef !== undefined)
        Object.assign(environment, this.get('ConfigMap', configMapRef.name).data);
      if (secretRef === undefined) continue;
      for (const [name, value] of Object.entries(this.get('Secret', secretRef.name).data ?? {}))
        environment[name] = Buffer.from(value, 'base64').toString();
    }
    return environment;
  }

  /** Returns a port of the container by name or number, undefined if it has no such port. */
  portOf(reference: string | number): number | undefined {
    const ports: { name: string; containerPort: number }[] = this.container.ports;
    return ports.find(({ name, containerPort }) => reference === name || reference === containerPort)
      ?.containerPort;
  }
}

/** Returns the faults of manifests, by the schemas of Kubernetes, strictly, and those of the Prometheus operator. */
export async function faultsOf({ manifests, yaml }: Overlay): Promise<string[]> {
  const foreign = manifests.filter((manifest) => monitoringFaults(manifest) !== undefined);
  const unknown = foreign.map(({ kind }) => new RegExp(`^WARN .*find schema for kind ${kind} `));
  const faults = (await schemaFaults(yaml)).filter((line) => !unknown.some((pattern) => pattern.test(line)));
  return [...foreign.flatMap((manifest) => monitoringFaults(manifest) ?? []), ...faults];
}

/** Returns the output of kubernetes-validate, which is strict and empty if there is no fault. Needs that program. */
async function schemaFaults(yaml: string): Promise<string[]> {
  const child = promisify(execFile)(deployTool('kubernetes-validate'), ['--strict', '--quiet', '-']);
  child.child.stdin?.end(yaml);
  const said = await child.catch((error: Error & { stdout: string; stderr: string }) => error);
  const lines = `${said.stdout}${said.stderr}`.split('\n').filter((line) => line !== '');
  return lines.length === 0 && said instanceof Error ? [said.message] : lines;
}
