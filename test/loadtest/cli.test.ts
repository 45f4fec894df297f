import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../loadtest/command.ts';
import { readCommandLine } from '../../loadtest/commands.ts';
import { loadtest } from '../helpers/loadtest.ts';

/** Each subcommand, and one of its options. */
const COMMANDS = {
  run: '--against',
  check: '--small',
  shapes: '--shapes',
  transports: '--sockets',
  ladder: '--seconds',
  micro: '--turn-ms',
  cycles: '--warm-up',
  storm: '--returning',
  chaos: '--clients',
  growth: '--masters',
  drivers: '--rounds',
  heap: '--singles',
  profile: '--seconds',
  report: '--out',
};

/** The commands that measure no server. */
const ALONE = new Set(['micro', 'report']);

async function helpOf(name: string): Promise<string> {
  const invocation = await readCommandLine([name, '--help']);
  assert.ok('help' in invocation);
  return invocation.help;
}

test('The help lists every subcommand, and no other, with a description', async () => {
  const { code, stdout, stderr } = await loadtest('--help');
  assert.deepEqual([code, stderr], [0, '']);
  const listed = [...stdout.matchAll(/^ {2}(\S+) +\S.*$/gm)].map(([, name]) => name);
  assert.deepEqual(listed, Object.keys(COMMANDS));
});

for (const [name, option] of Object.entries(COMMANDS)) {
  test(`The help of ${name} lists its options, and does not run the subcommand`, async () => {
    const help = await helpOf(name);
    assert.match(help, new RegExp(`^Usage: yarn loadtest ${name} .*\\[options\\]$`, 'm'));
    assert.match(help, new RegExp(`^ {2}${option} +\\S`, 'm'));
  });
}

test('The help shows the defaults of a subcommand', async () => {
  for (const [name, option, value] of [
    ['run', 'singles', '100'],
    ['heap', 'singles', '10'],
    ['ladder', 'sockets', '4000'],
    ['profile', 'sockets', '1000'],
  ] as const) {
    const line = new RegExp(`^ {2}--${option} .*\\(${value}\\)$`, 'm');
    assert.match(await helpOf(name), line);
  }
});

for (const [what, args, complaint] of [
  ['No subcommand', [], /^expected one of the commands run, .*, report, or --help, got nothing$/],
  ['A name that every object has', ['constructor'], /^expected one of the commands .*, got constructor$/],
  ['An unknown option', ['check', '--tiny'], /^expected one of --help, --small, --rounds, got --tiny$/],
  ['A Kafka client that is not there', ['run', '--driver', 'librdkafka'], /driver.*kafkajs.*librdkafka/],
  ['An argument that is not taken', ['run', 'stock'], /'stock'/],
  ['An option without its value', ['cycles', '--cycles'], /--cycles <value>/],
  [
    'What is no number',
    ['run', '--sockets=x'],
    /^--sockets: expected a whole number from 1 to 40000, got x$/,
  ],
  ['Too large a number', ['check', '--rounds=21'], /^--rounds: expected .* from 1 to 20, got 21$/],
  ['An empty number', ['run', '--rate='], /^--rate: expected a whole number from 0 to 1000000, got nothing$/],
  ['Too large a share', ['run', '--stalled=1'], /^--stalled: expected a number from 0 to 0.9, got 1$/],
  ['An unknown choice', ['run', '--ids=none'], /^--ids: expected same or unique, got none$/],
  [
    'A Kafka client that is not measured',
    ['drivers', '--drivers=librdkafka'],
    /^--drivers: expected some of kafkajs, platformatic, platformatic-consumer, got librdkafka$/,
  ],
  [
    'An unknown server',
    ['run', '--against=mercury'],
    /^--against: expected stock or resuming or yoga or mercurius or centrifugo, got mercury$/,
  ],
  [
    'A version before that is not built',
    ['chaos', 'rolling', '--before=/nowhere'],
    /^--before: expected a folder with dist\/src\/cli\.js, got none at \/nowhere/,
  ],
  [
    'A version before where nothing is rolled out',
    ['chaos', 'cuts', '--before=.'],
    /^--before: expected rolling, got cuts$/,
  ],
  [
    'A Sentinel whose master would come back empty',
    ['chaos', 'redis-emptied', '--redis=sentinel'],
    /^--redis: expected single for redis-emptied, got sentinel$/,
  ],
  [
    'A setting without a value',
    ['chaos', 'rolling', '--settings=PORT'],
    /^--settings: expected NAME=value, got PORT$/,
  ],
  ['More channels than sockets', ['run', '--sockets=9', '--channels=10'], /^--channels: .* to 9, got 10$/],
] as const) {
  test(`${what} is refused, with what was expected and what came`, async () => {
    const refused = { constructor: UsageError, message: complaint };
    await assert.rejects(readCommandLine(args), refused);
  });
}

test('Commands that measure servers need Kafka and Redis, the others do not', async () => {
  for (const name of Object.keys(COMMANDS)) {
    const args = { profile: ['doctor'], report: ['report.json'], chaos: ['rolling'] }[name] ?? [];
    const invocation = await readCommandLine([name, ...args]);
    assert.equal('run' in invocation && invocation.needsServices, !ALONE.has(name), name);
  }
});

test('The program exits with 2 for a command line that it refuses', async () => {
  const { code, stdout, stderr } = await loadtest('bench');
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /^expected one of the commands run, .*, got bench\n$/);
});
