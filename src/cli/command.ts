import { parseArgs } from 'node:util';
import type { EnvFile } from './env-file.ts';

/** One of the commands of `sluice`. */
export interface Command {
  /** The command's lines of the usage: the text after `sluice`, and the effect. */
  readonly usage: readonly (readonly [written: string, does: string])[];
  /** Returns the usage of the command's options, if they have their own. */
  options?(): Promise<string>;
  /**
   * @param args the arguments after the command's name
   * @param envFile the `.env` file; if `isRead`, its variables are in the environment already
   * @returns the exit code: 0 done, 1 failed, 2 wrong arguments; undefined while the gateway runs
   * @throws UsageError, SluiceError, or the errors of util.parseArgs
   */
  run(args: readonly string[], envFile?: EnvFile): Promise<number | undefined>;
}

/** The command line can't be understood; the message says what was expected and what came. */
export class UsageError extends Error {}

/**
 * Parses the arguments of a command. The user must give all of `names`, and nothing that `allowed` does not list.
 *
 * @param names the positional arguments that must be given
 * @param allowed.optional the positional arguments that may follow
 * @param allowed.options options without a value, without their dashes
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
