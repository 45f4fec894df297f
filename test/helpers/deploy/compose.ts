import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';

const FILE = path.join(import.meta.dirname, '../../../../compose.yaml');

export interface Bind {
  readonly type: string;
  readonly source: string;
  readonly target: string;
  readonly read_only: boolean;
  readonly bind: { readonly create_host_path: boolean };
}

export interface Service {
  readonly image: string;
  readonly build?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly entrypoint?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly (string | Bind)[];
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly healthcheck: { readonly test?: readonly string[] };
}

/** The services of compose.yaml, by name. */
export async function composeServices(): Promise<Record<string, Service>> {
  const text = await readFile(FILE, 'utf8');
  return (parse(text, { merge: true }) as { services: Record<string, Service> }).services;
}

/** Returns the port of 'host:port', the last one. */
export function portOf(address = ''): string {
  return address.split(':').at(-1) ?? '';
}
