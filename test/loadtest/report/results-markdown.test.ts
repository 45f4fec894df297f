import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readResults } from '../../../loadtest/report/result-files.ts';
import { resultsMarkdown } from '../../../loadtest/report/results-markdown.ts';
import type { Ladder } from '../../../loadtest/report/sections/ladder-section.ts';
import type { Tables } from '../../../loadtest/report/sections/tables-section.ts';
import { loadReport } from '../../helpers/load-report.ts';

const { created, commit, machine, versions } = loadReport();

const LADDER: Ladder = {
  kind: 'ladder',
  created,
  commit,
  machine,
  versions,
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
    {
      name: 'one write per turn',
      changes: 'gathered | written',
      events: 1_250,
      deliveries: 5_000_000,
      idleResidentBytes: 130_000_000,
      idleHeapBytes: 40_000_000,
      busyResidentBytes: 160_000_000,
      cpuMicrosPerDelivery: 2.05,
      ratio: 416.7,
    },
  ],
};

const MICRO: Tables = {
  kind: 'micro',
  created,
  commit,
  machine,
  versions,
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

/** A table's row, by its first cell. */
function row(markdown: string, first: string): string[] | undefined {
  const line = markdown.split('\n').find((one) => one.startsWith(`| ${first} |`));
  return line?.slice(2, -2).split(' | ');
}

test('The same results always give the same text', () => {
  assert.equal(markdownOf(loadReport(), LADDER), markdownOf(loadReport(), LADDER));
});

test('Sections come by kind, each with its command and machine, and notes after the sections that they are about', () => {
  const markdown = markdownOf(LADDER, loadReport(), loadReport({ channels: 4_000 }));
  const headings = markdown.split('\n').filter((line) => line.startsWith('#'));
  assert.deepEqual(headings, [
    '# Results',
    '## Budgets',
    '## Load tests',
    '### 4,000 sockets, every event to all',
    '### 4,000 sockets, a channel each',
    '### What the rest consists of',
    '## The ladder',
    '### 4,000 sockets, 20 seconds a step',
  ]);
  assert.equal(
    markdown.split('\n').filter((line) => line === '- Command: `yarn loadtest run --against stock`').length,
    2,
  );
  assert.ok(markdown.includes('- Command: `yarn loadtest ladder`'));
  assert.equal(markdown.split('- Commit: `3f2fbef`, 2026-11-21T09:30:00.000Z').length, 4);
  assert.equal(
    markdown.split('- Machine: Example CPU @ 2.80GHz, 2 cores, 8.0 GB, Linux 6.1.0 x64').length,
    4,
  );
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
  const titles = markdown.split('\n').filter((line) => line.includes('### 4') || line.includes('### 10'));
  assert.equal(new Set(titles).size, loads.length);
});

test('Figures of Sluice stand beside those of stock', () => {
  assert.deepEqual(row(markdownOf(loadReport()), 'CPU per delivery, flood, µs'), [
    'CPU per delivery, flood, µs',
    '2',
    '61',
    '30.5× less',
  ]);
});

test('One table shows the budgets of all loads, each with its load', () => {
  const markdown = markdownOf(loadReport(), loadReport({ channels: 4_000 }));
  assert.deepEqual(row(markdown, 'CPU per event, flood, stock ÷ sluice'), [
    'CPU per event, flood, stock ÷ sluice',
    '≥ 4×',
    '30.5×',
    '✓ met',
    '4,000 sockets, a channel each',
  ]);
  assert.deepEqual(row(markdown, 'heap per idle socket, variables all different'), [
    'heap per idle socket, variables all different',
    '≤ 7 KB',
    '–',
    '– not measured',
    '–',
  ]);
});

test('The ladder shows the figures of the published story beside its own', () => {
  const markdown = markdownOf(LADDER);
  assert.deepEqual(row(markdown, 'eager'), [
    'eager',
    'contexts built in full; keys by lodash',
    '3',
    '12,000',
    '1×',
    '1,650',
    '612',
    '480',
    '900',
  ]);
  for (const told of ['16 events in four minutes', '+20 %', '+331 %', '3.6×', '6.3×', 'idle 300 MB'])
    assert.ok(markdown.includes(told), told);
});

test('Tables of small benchmarks are shown as they come', () => {
  const markdown = markdownOf(MICRO);
  assert.ok(markdown.includes('### Hub'));
  assert.deepEqual(row(markdown, '1'), ['1', '3.14']);
  assert.deepEqual(row(markdown, '10,000'), ['10,000', '–']);
});

test('Memory that clients leave behind has a section of its own, apart from the memory of idle sockets', () => {
  const tables = [{ title: 'Many', columns: ['figure', 'limit', 'measured'], rows: [['groups', '0', '0']] }];
  const headings = markdownOf({ ...MICRO, kind: 'cycles', tables }, { ...MICRO, kind: 'heap' })
    .split('\n')
    .filter((line) => line.startsWith('#'));
  assert.deepEqual(headings, [
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
  ['null', 'null', /^bad\.json: expected an object, got null$/],
  ['another kind', { kind: 'tuna' }, /^bad\.json: expected version 1 or a kind of .*ladder.*, got tuna$/],
  ['another version', { version: 2 }, /^bad\.json: expected version 1 or a kind of .*, got version 2$/],
  [
    'a ladder without steps',
    { ...LADDER, steps: undefined },
    /^bad\.json: expected steps, a list, in results of kind ladder, got nothing$/,
  ],
  [
    'a report without runs',
    { ...loadReport(), runs: 7 },
    /^bad\.json: expected runs, a list, in results of kind loadtest, got 7$/,
  ],
  [
    'a report without a commit',
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
