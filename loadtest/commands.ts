import { readArguments, usageOf, UsageError, type Command } from './command.ts';

type Module = Promise<{ readonly command: Command }>;

/** The subcommands of `yarn loadtest`. Each is loaded only when it is run: benchmarks measure their whole process. */
const COMMANDS: Readonly<Record<string, () => Module>> = {
  run: () => import('./run/run-command.ts'),
  check: () => import('./run/check-command.ts'),
  shapes: () => import('./shapes/shapes-command.ts'),
  transports: () => import('./run/transports-command.ts'),
  ladder: () => import('./targets/ladder/ladder-command.ts'),
  micro: () => import('./micro/micro-command.ts'),
  cycles: () => import('./memory/cycles-command.ts'),
  storm: () => import('./storm/storm-command.ts'),
  chaos: () => import('./chaos/chaos-command.ts'),
  growth: () => import('./growth/growth-command.ts'),
  drivers: () => import('./drivers/drivers-command.ts'),
  heap: () => import('./memory/heap-command.ts'),
  profile: () => import('./profile/profile-command.ts'),
  report: () => import('./report/report-command.ts'),
};

/** The meaning of a command line. */
export type Invocation =
  | { readonly help: string }
  | {
      readonly needsServices: boolean;
      readonly programs: readonly string[];
      readonly run: () => Promise<void>;
    };

/** @throws UsageError that says what was expected and what came */
export async function readCommandLine(args: readonly string[]): Promise<Invocation> {
  const [name = '', ...rest] = args;
  if (name === '--help') return { help: await overview() };
  if (!Object.hasOwn(COMMANDS, name)) {
    const names = Object.keys(COMMANDS).join(', ');
    throw new UsageError(`expected one of the commands ${names}, or --help, got ${name || 'nothing'}`);
  }
  const { command } = await (COMMANDS[name] as () => Module)();
  if (rest.includes('--help')) return { help: usageOf(name, command) };
  const run = command.prepare(readArguments(name, command, rest));
  return { needsServices: command.needsServices, programs: command.programs ?? [], run };
}

async function overview(): Promise<string> {
  const names = Object.keys(COMMANDS);
  const width = Math.max(...names.map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(async ([name, load]) => {
    const { command } = await load();
    return `  ${name.padEnd(width)}  ${command.summary}`;
  });
  return [
    'Usage: yarn loadtest <command> [options]',
    '',
    ...(await Promise.all(lines)),
    '',
    '`yarn loadtest <command> --help` tells the options of a command.',
  ].join('\n');
}
