import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readResults } from '../../../loadtest/report/result-files.ts';
import { resultsMarkdown } from '../../../loadtest/report/results-markdown.ts';
import type { Ladder } from '../../../loadtest/report/sections/ladder-section.ts';
import type { Tables } from '../../../loadtest/report/sections/tables-section.ts';
import { loadReport } from '../../helpers/load-report.ts';

const { created, commit, machine, versions } = loadReport();
const ORIGIN = { created, commit, machine, versions };

const LADDER: Ladder = {
  kind: 'ladder',
  ...ORIGIN,
  commandLine: 'yarn loadtest ladder',
  sockets: 4_000,
  secondsPerStep: 20,
  steps: [
    {
      name: 'eager',
      changes: 'contexts built in full; keys by lodash',
      events: 3,
      deliveries: 12_000,
      idleResidentBytes: 612_000_000,
      idleHeapBytes: 480_000_000,
      busyResidentBytes: 900_000_000,
      cpuMicrosPerDelivery: 1_650,
      ratio: 1,
    },
  ],
};

const MICRO: Tables = {
  kind: 'micro',
  ...ORIGIN,
  commandLine: 'yarn loadtest micro hub',
  tables: [
    {
      title: 'Hub',
      columns: ['subscribers', 'µs'],
      rows: [
        ['1', 3.14159],
        ['10,000', null],
      ],
    },
  ],
};

const fileOf = (name: string, content: unknown): { name: string; content: string } => ({
  name,
  content: typeof content === 'string' ? content : JSON.stringify(content),
});

function markdownOf(...contents: unknown[]): string {
  return resultsMarkdown(readResults(contents.map((content) => fileOf('results.json', content))), {
    introduction: 'What this is.\n',
    loadtest: '### What the rest consists of\n\nThe kernel.\n',
    micro: 'Only with micro results.',
  });
}

/** What stands in a table's row behind this first cell. */
function row(markdown: string, first: string): string | undefined {
  const line = markdown.split('\n').find((one) => one.startsWith(`| ${first} |`));
  return line?.slice(first.length + 5, -2);
}

const headingsIn = (markdown: string): string[] =>
  markdown.split('\n').filter((line) => line.startsWith('#'));

test('The same results always give the same text', () => {
  assert.equal(markdownOf(loadReport(), LADDER), markdownOf(loadReport(), LADDER));
});

test('Sections come by kind, each with its command and machine, and notes after the sections that they are about', () => {
  const markdown = markdownOf(LADDER, loadReport(), loadReport({ channels: 4_000 }));
  assert.deepEqual(headingsIn(markdown), [
    '# Results',
    '## Budgets',
    '## Load tests',
    '### 4,000 sockets, every event to all',
    '### 4,000 sockets, a channel each',
    '### What the rest consists of',
    '## The ladder',
    '### 4,000 sockets, 20 seconds a step',
  ]);
  for (const [line, times] of [
    ['- Command: `yarn loadtest run --against stock`', 2],
    ['- Command: `yarn loadtest ladder`', 1],
    ['- Commit: `3f2fbef`, 2026-11-21T09:30:00.000Z', 3],
    ['- Machine: Example CPU @ 2.80GHz, 2 cores, 8.0 GB, Linux 6.1.0 x64', 3],
  ] as const) {
    assert.equal(markdown.split(`${line}\n`).length - 1, times, line);
  }
  assert.ok(markdown.includes('What this is.'));
  assert.ok(!markdown.includes('Only with micro results'));
});

test('Loads with different options have different titles', () => {
  const loads = [
    {},
    { sockets: 10_000 },
    { channels: 4_000 },
    { channels: 10 },
    { variables: 'unique' },
    { stalled: 0.2 },
  ] as const;
  const markdown = markdownOf(...loads.map(loadReport));
  const titles = headingsIn(markdown).filter((line) => /^### (4|10)/.test(line));
  assert.equal(new Set(titles).size, loads.length);
});

test('Tables show figures beside those of stock, the budgets of each load, the steps of a ladder, and benchmarks', () => {
  const loads = markdownOf(loadReport(), loadReport({ channels: 4_000 }));
  const ladder = markdownOf(LADDER);
  for (const [markdown, first, cells] of [
    [loads, 'CPU per delivery, flood, µs', '2 | 61 | 30.5× less'],
    [loads, 'CPU per event, flood, stock ÷ sluice', '≥ 4× | 30.5× | ✓ met | 4,000 sockets, a channel each'],
    [loads, 'heap per idle socket, variables all different', '≤ 7 KB | – | – not measured | –'],
    [ladder, 'eager', 'contexts built in full; keys by lodash | 3 | 12,000 | 1× | 1,650 | 612 | 480 | 900'],
    [markdownOf(MICRO), '1', '3.14'],
    [markdownOf(MICRO), '10,000', '–'],
  ] as const) {
    assert.equal(row(markdown, first), cells, first);
  }
  for (const told of ['16 events in four minutes', '+20 %', '+331 %', '3.6×', '6.3×', 'idle 300 MB'])
    assert.ok(ladder.includes(told), told);
});

test('Memory that clients leave behind has a section of its own, apart from the memory of idle sockets', () => {
  const tables = [{ title: 'Many', columns: ['figure', 'limit', 'measured'], rows: [['groups', '0', '0']] }];
  assert.deepEqual(headingsIn(markdownOf({ ...MICRO, kind: 'cycles', tables }, { ...MICRO, kind: 'heap' })), [
    '# Results',
    '## What an idle socket holds',
    '### Hub',
    '## Coming and leaving',
    '### Many',
  ]);
});

test('Texts of results are escaped in Markdown', () => {
  const report = loadReport();
  const hostile = 'a | b\n# c <img> `d` *e* [f](http://example.test) &amp;';
  const runs = report.runs.map((run) => ({ ...run, faults: [hostile] }));
  const markdown = markdownOf(
    { ...report, runs, commandLine: hostile },
    { ...LADDER, steps: [{ ...LADDER.steps[0], name: hostile }] },
  );
  const escaped = String.raw`a \| b \# c \<img\> \`d\` \*e\* \[f\](http://example.test) &amp;amp;`;
  assert.ok(markdown.includes(`- sluice: ${escaped}\n`));
  assert.ok(markdown.includes(`| ${escaped} |`));
  assert.ok(markdown.includes('- Command: `` a | b # c <img> `d` *e* [f](http://example.test) &amp; ``\n'));
});

for (const [what, content, expected] of [
  ['no JSON', '{', /^bad\.json: expected JSON, got /],
  ['no object', '[1]', /^bad\.json: expected an object, got \[1\]$/],
  ['another kind', { kind: 'tuna' }, /^bad\.json: expected version 1 or a kind of .*ladder.*, got tuna$/],
  ['another version', { version: 2 }, /^bad\.json: expected version 1 or a kind of .*, got version 2$/],
  [
    'no list where there must be one',
    { ...loadReport(), runs: 7 },
    /^bad\.json: expected runs, a list, in results of kind loadtest, got 7$/,
  ],
  [
    'nothing where there must be a list',
    { ...LADDER, steps: undefined },
    /^bad\.json: expected steps, a list, in results of kind ladder, got nothing$/,
  ],
  [
    'no commit',
    { ...loadReport(), commit: null },
    /^bad\.json: expected commit in results of kind loadtest$/,
  ],
] as const) {
  test(`A file with ${what} is refused with an error that names it`, () => {
    assert.throws(() => readResults([fileOf('good.json', loadReport()), fileOf('bad.json', content)]), {
      message: expected,
    });
  });
}
