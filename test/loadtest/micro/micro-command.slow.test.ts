import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { readResults } from '../../../loadtest/report/result-files.ts';
import { tablesSection } from '../../../loadtest/report/sections/tables-section.ts';
import { loadtest } from '../../helpers/loadtest.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await loadtest('micro', ...args);
  assert.equal(code, 0, stderr);
  return stdout;
}

interface Result {
  readonly benchmark: string;
  readonly variants: readonly Partial<Record<'wallNs' | 'stageNs' | 'objects', number>>[];
}

/** Benchmarks, and the cases that are enough to see each of them run. */
const RUNS: readonly (readonly [name: string, cases: string])[] = [
  ['hub', ' 100'],
  ['frame', ''],
  ['flush', '16 × 200 bytes'],
  ['snake-case', ''],
  ['group-key', ''],
  ['documents', ''],
  ['context', 'viewer.role read'],
  ['context', 'graphs of different sizes'],
  ['lazy', ''],
  ['tracing', 'of 1'],
  ['explain', 'of 1'],
  ['ingest', 'e'],
  ['formats', ''],
];

test('the benchmarks tried here are all existing ones', async () => {
  const named = /the same: (.*)$/m.exec(await run('--help'))?.[1]?.split(', ');
  assert.deepEqual(named, [...new Set(RUNS.map(([name]) => name))]);
});

for (const [name, cases] of RUNS) {
  test(`the benchmark ${name} runs ${cases}`, async () => {
    const output = await run(name, '--cases', cases, '--rounds', '1', '--turn-ms', '0', '--json');
    const results = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Result);
    assert.ok(results.length > 0);
    for (const { benchmark, variants } of results) {
      assert.equal(benchmark, name);
      assert.ok(variants.length > 1, `expected something to compare with, got ${output}`);
      for (const { wallNs, stageNs, objects } of variants) assert.ok((wallNs ?? stageNs ?? objects ?? 0) > 0);
    }
  });
}

test('the figures of several benchmarks become a section of RESULTS.md', async (t) => {
  const out = path.join(await temporaryFolder(t), 'micro.json');
  const shown = await run('lazy', 'group-key', '--rounds', '1', '--turn-ms', '0', '--out', out);
  const { micro } = readResults([{ name: 'micro.json', content: readFileSync(out, 'utf8') }]);
  assert.equal(micro.length, 1);
  const [first] = micro;
  assert.ok(first);
  assert.equal(first.commandLine, `yarn loadtest micro lazy group-key --rounds 1 --turn-ms 0 --out ${out}`);
  const titles = shown.split('\n').filter((line) => /^(lazy|group-key): /.test(line));
  assert.deepEqual(
    first.tables.map(({ title }) => title),
    titles,
  );
  const section = tablesSection(first);
  assert.match(section, /^### group-key: two variables$/m);
  assert.match(section, /^\| variablesKey \| \d.* (n|µ)s \|/m);
});

test('a benchmark that does not exist is refused, and no file is written', async (t) => {
  const out = path.join(await temporaryFolder(t), 'micro.json');
  const { code, stderr } = await loadtest('micro', 'lazy', 'hubs', '--out', out);
  assert.equal(code, 2);
  assert.match(stderr, /^expected one of hub, .*, got hubs$/m);
  assert.ok(!existsSync(out));
});
