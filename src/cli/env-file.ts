import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { isProduction } from '../config/config.ts';
import { messageOf, SluiceError } from '../errors.ts';
import type { Log } from '../log.ts';

/** A `.env` file that exists. */
export interface EnvFile {
  /** Whether its variables are in the environment now. */
  readonly isRead: boolean;
  /** If the file is read, the variables that have its values; if not, its variables that the environment lacks. */
  readonly variables: readonly string[];
}

/**
 * Adds the variables of `.env` in the working directory to the environment. A variable that the environment has, even
 * an empty one, stays as it is, so that one run can do without a setting of the file. In production the file sets
 * nothing, since it may lie there by chance, and only the names of the variables that it would have set are told.
 *
 * @param env changed in place: the graph's code, tracing and workers read it, too
 * @returns undefined if there is no such file
 * @throws SluiceError BAD_SETTINGS if the file can't be read, except in production
 */
export function readEnvFile(env: NodeJS.ProcessEnv, file = '.env'): EnvFile | undefined {
  if (isProduction(env)) return leftOut(env, file);
  const text = textOf(file);
  if (text === undefined) return undefined;
  const given = Object.entries(parseEnv(text)) as [name: string, value: string][];
  for (const [name, value] of given) env[name] ??= value;
  const held = given.filter(([name, value]) => env[name] === value);
  return { isRead: true, variables: held.map(([name]) => name).toSorted() };
}

/** Logs that the file was read, or why not, without its values. */
export function logEnvFile(file: EnvFile | undefined, log: Log): void {
  if (file?.isRead === true) log.info({ variables: file.variables }, '.env has been read');
  if (file?.isRead === false) {
    log.warn(
      { missing: file.variables },
      '.env is not read in production: settings come from the environment',
    );
  }
}

function leftOut(env: NodeJS.ProcessEnv, file: string): EnvFile | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const text = textOf(file);
    if (text === undefined) return undefined;
    const missing = Object.keys(parseEnv(text)).filter((name) => env[name] === undefined);
    return { isRead: false, variables: missing.toSorted() };
  } catch {
    // The gateway does not use the file in production, so it starts even if the file can't be read.
    return { isRead: false, variables: [] };
  }
}

function textOf(file: string): string | undefined {
  try {
    // Some editors begin a file with a byte order mark, which would be part of the first name.
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    // A folder of this name holds a virtual environment of Python.
    if (['ENOENT', 'EISDIR'].includes((cause as NodeJS.ErrnoException).code ?? '')) return undefined;
    const message = `expected a file that can be read, or none, got ${file}: ${messageOf(cause)}`;
    throw new SluiceError('BAD_SETTINGS', message, { cause });
  }
}
