import type { Command } from './command.ts';

/** The commands by name, in the order of the usage. A command loads its modules when it is run. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    'serve',
    {
      usage: [['serve', 'run the gateway (the default)']],
      run: async (args, envFile) => (await import('./serve.ts')).serve(args, envFile),
    },
  ],
  [
    'dev',
    {
      usage: [
        [
          'dev [graph]',
          "run it for a graph's author: reload on each change, print what becomes of each event",
        ],
      ],
      run: async (args, envFile) => (await import('./dev.ts')).dev(args, envFile),
    },
  ],
  [
    'init',
    {
      usage: [
        [
          'init [folder]',
          "write a new graph's project into a new or empty folder; --package <tarball>: with that Sluice; --from <schema file, subject:name or topic:name>: with the types of these messages",
        ],
      ],
      run: async (args) => (await import('./init.ts')).init(args),
    },
  ],
  [
    'check',
    {
      usage: [
        [
          'check <graph>',
          "validate a graph's folder without starting; --no-types: not its TypeScript's types; --subgraph <back end>=<file or URL>: with its schema; --registry: with the schemas of topics, --subject <topic>=<subject> if it has another name",
        ],
      ],
      run: async (args) => (await import('./check.ts')).check(args),
    },
  ],
  [
    'build',
    {
      usage: [
        [
          'build <graph> [folder]',
          'write a graph to be deployed, compiled to JavaScript, to its dist or the folder',
        ],
      ],
      run: async (args) => (await import('./build.ts')).build(args),
    },
  ],
  [
    'schema',
    {
      usage: [
        ['schema', 'print the directives that a schema is written with, for editors and code generators'],
        ['schema <graph>', "print a graph's schema as clients see it"],
      ],
      run: async (args) => (await import('./schema.ts')).schema(args),
    },
  ],
  [
    'sdl',
    {
      usage: [['sdl <graph>', "print a graph's schema as a subgraph of Apollo Federation, for routers"]],
      run: async (args) => (await import('./sdl.ts')).sdl(args),
    },
  ],
  [
    'types',
    {
      usage: [['types <graph> [file]', "write TypeScript types of a graph's resolvers"]],
      run: async (args) => (await import('./types.ts')).types(args),
    },
  ],
  [
    'config',
    {
      usage: [
        ['config', 'print the effective settings'],
        ['config --markdown', 'print all settings as a table'],
      ],
      run: async (args) => (await import('./config.ts')).config(args),
    },
  ],
  [
    'explain',
    {
      usage: [['explain', 'say why a connection did, or did not, get an event: --connection --topic --key']],
      options: async () => (await import('./explain.ts')).EXPLAIN_USAGE,
      run: async (args) => (await import('./explain.ts')).explain(args),
    },
  ],
  [
    'dead-letters',
    {
      usage: [
        ['dead-letters list', 'print the messages that could not be decoded'],
        ['dead-letters replay', 'send them back to the topics that they came from'],
      ],
      options: async () => (await import('./dead-letter-arguments.ts')).DEAD_LETTERS_USAGE,
      run: async (args) => (await import('./dead-letters.ts')).deadLetters(args),
    },
  ],
]);

/** The usage of all commands. */
export function usage(): string {
  const lines = [
    ...[...COMMANDS.values()].flatMap((command) => command.usage),
    ['help', 'print this'] as const,
  ];
  const width = Math.max(...lines.map(([written]) => written.length));
  const listed = lines.map(([written, does]) => `  ${written.padEnd(width)}  ${does}\n`).join('');
  return `sluice [command]

${listed}
Settings come from the environment, and from .env in the working directory; see 'sluice config --markdown'.
The options of explain and dead-letters are listed by 'sluice explain --help' and 'sluice dead-letters --help'.
`;
}

export const isHelp = (argument: string): boolean => argument === '--help' || argument === '-h';

/** The usage of a command's options, if they have their own; else the usage of all commands. */
export async function usageOf(name: string | undefined): Promise<string> {
  return (await COMMANDS.get(name ?? '')?.options?.()) ?? usage();
}
