import { parseArgs } from 'node:util';
import type { EnvFile } from './env-file.ts';

/** One of the commands of `sluice`. */
export interface Command {
  /** What is written behind `sluice`, and what it does: one or more lines of the usage. */
  readonly usage: readonly (readonly [written: string, does: string])[];
  /** Its options, where they have a usage of their own. */
  options?(): Promise<string>;
  /**
   * @param args behind the command's name
   * @param envFile whose variables are in the environment already
   * @returns the exit code: 0 done, 1 failed, 2 wrong arguments; undefined while the gateway runs
   * @throws UsageError, SluiceError, or the errors of util.parseArgs
   */
  run(args: readonly string[], envFile?: EnvFile): Promise<number | undefined>;
}

/** The command line can't be understood; the message says what was expected and what came. */
export class UsageError extends Error {}

/**
 * Parses the arguments of a command that takes these, no more and no fewer.
 *
 * @param names of the positional ones
 * @param allowed.optional names of those that may follow
 * @param allowed.options without their dashes; none has a value
 * @param allowed.lists options with a value, without their dashes; each may be given several times
 * @throws UsageError, or the errors of util.parseArgs
 */
export function argumentsOf(
  args: readonly string[],
  names: readonly string[],
  allowed: {
    readonly optional?: readonly string[];
    readonly options?: readonly string[];
    readonly lists?: readonly string[];
  } = {},
): {
  positionals: readonly string[];
  options: ReadonlySet<string>;
  lists: Readonly<Record<string, readonly string[]>>;
} {
  const { optional = [], options = [], lists = [] } = allowed;
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...Object.fromEntries(options.map((name) => [name, { type: 'boolean' as const }])),
      ...Object.fromEntries(lists.map((name) => [name, { type: 'string' as const, multiple: true }])),
    },
  });
  if (positionals.length < names.length || positionals.length > names.length + optional.length) {
    const written = [...names.map((name) => `<${name}>`), ...optional.map((name) => `[${name}]`)];
    const expected = written.length === 0 ? 'no argument' : written.join(' ');
    const got = positionals.length === 0 ? 'none' : `'${positionals.join(' ')}'`;
    throw new UsageError(`expected ${expected}, got ${got}`);
  }
  const given = values as Readonly<Record<string, true | readonly string[]>>;
  return {
    positionals,
    options: new Set(options.filter((name) => given[name] === true)),
    lists: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== true)) as Record<
      string,
      readonly string[]
    >,
  };
}

export function isParseError(error: unknown): error is Error {
  return (error as { code?: string } | undefined)?.code?.startsWith('ERR_PARSE_ARGS') === true;
}
