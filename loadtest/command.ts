import { parseArgs } from 'node:util';

/** An option of a subcommand. Its help says what a value means, and in which unit. */
export interface Option {
  readonly type: 'string' | 'boolean';
  readonly default?: string;
  readonly help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** The result of `parseArgs`: false for a flag that is not given, undefined for a text without a default. */
export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends { readonly type: 'boolean' }
    ? boolean
    : O[Name] extends { readonly default: string }
      ? string
      : string | undefined;
};

export interface Arguments<O extends Options> {
  readonly values: Values<O>;
  readonly positionals: readonly string[];
  /** The whole command as it was typed, which each file of results holds. */
  readonly commandLine: string;
}

export interface Command<O extends Options = Options> {
  /** What the subcommand does, in one line. */
  readonly summary: string;
  /** The positional arguments, as the usage shows them; absent: there are none. */
  readonly positionals?: string;
  readonly options: O;
  /** Whether the subcommand's own process connects to Kafka and Redis. */
  readonly needsServices: boolean;
  /** The programs that it starts beside what is measured; absent: none. Set only if `needsServices`. */
  readonly programs?: readonly string[];
  /** @returns does the work; throws UsageError for wrong arguments, before any of the work is done */
  prepare(args: Arguments<O>): () => Promise<void>;
}

/** Says what was expected on the command line and what came. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Checks that `prepare` fits `options`, and removes their types from the command's type. */
export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command as unknown as Command;
}

/** @throws UsageError for an option or argument that the command does not have */
export function readArguments<O extends Options>(
  name: string,
  command: Pick<Command<O>, 'options' | 'positionals'>,
  args: readonly string[],
): Arguments<O> {
  const options: Options = command.options;
  const flags = Object.keys(options).filter((option) => options[option]?.type === 'boolean');
  const unset = Object.fromEntries(flags.map((flag) => [flag, false]));
  try {
    const parsed = parseArgs({
      args: [...args],
      options,
      allowPositionals: command.positionals !== undefined,
    });
    return {
      values: { ...unset, ...parsed.values } as Values<O>,
      positionals: parsed.positionals,
      commandLine: ['yarn loadtest', name, ...args].join(' '),
    };
  } catch (error) {
    throw usageError(error as NodeJS.ErrnoException, Object.keys(options));
  }
}

function usageError({ code, message }: NodeJS.ErrnoException, names: readonly string[]): UsageError {
  const [, unknown] = /'(-[^']*)'/.exec(message) ?? [];
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || unknown === undefined) return new UsageError(message);
  const known = ['help', ...names].map((option) => `--${option}`).join(', ');
  return new UsageError(`expected one of ${known}, got ${unknown}`);
}

/** @throws UsageError unless the option's text is a whole number within the bounds */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  return numberWithin(option, text, least, most, Number.isInteger);
}

/** @throws UsageError unless the option's text is a number within the bounds that `fits` takes */
export function numberWithin(
  option: string,
  text: string,
  least: number,
  most: number,
  fits: (value: number) => boolean,
): number {
  const value = Number(text);
  if (text.trim() !== '' && fits(value) && value >= least && value <= most) return value;
  const kind = fits === Number.isInteger ? 'whole number' : 'number';
  throw new UsageError(`--${option}: expected a ${kind} from ${least} to ${most}, got ${text || 'nothing'}`);
}

/** @throws UsageError unless the option's text is one of the known ones */
export function choice<T extends string>(option: string, text: string, known: readonly T[]): T {
  const value = known.find((one) => one === text);
  if (value !== undefined) return value;
  throw new UsageError(`--${option}: expected ${known.join(' or ')}, got ${text || 'nothing'}`);
}

/** Returns the text that `--help` prints for one subcommand. */
export function usageOf(name: string, { summary, positionals, options }: Command): string {
  const width = Math.max(...Object.keys(options).map((option) => option.length));
  const lines = Object.entries(options).map(([option, { help, default: standard }]) => {
    return `  --${option.padEnd(width)}  ${help}${standard ? ` (${standard})` : ''}`;
  });
  const usage = ['Usage: yarn loadtest', name, ...(positionals ? [positionals] : []), '[options]'].join(' ');
  return [usage, '', summary, '', ...lines].join('\n');
}
