import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { cpus, release, totalmem, type } from 'node:os';
import path from 'node:path';
import type { Machine } from './report.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

const PACKAGES = ['graphql', 'graphql-ws', 'ws', 'graphql-jit', 'ioredis', 'kafkajs'];

/** The origin of figures, which each file of results holds. */
export interface Origin {
  /** ISO 8601, UTC. */
  readonly created: string;
  readonly commit: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly commandLine: string;
}

/** Returns the origin of figures that are measured here and now. */
export async function origin(commandLine: string): Promise<Origin> {
  return {
    created: new Date().toISOString(),
    commandLine,
    commit: commit(),
    machine: machine(),
    versions: await versions(),
  };
}

function machine(): Machine {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
  };
}

async function versions(): Promise<Record<string, string>> {
  const found: Record<string, string> = { node: process.version };
  for (const name of PACKAGES) {
    const file = path.join(ROOT, 'node_modules', name, 'package.json');
    found[name] = (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version;
  }
  return found;
}

/** Returns the short hash of the commit, with a plus if files differ from it. */
function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    return 'unknown';
  }
}
