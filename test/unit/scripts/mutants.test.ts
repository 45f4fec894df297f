import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../../scripts/lib/mutants');

interface Position {
  readonly line: number;
  readonly column: number;
}

/** A mutant in Stryker's form. */
interface Found {
  readonly id?: string;
  readonly fileName: string;
  readonly location: { readonly start: Position; readonly end: Position };
  readonly mutatorName: string;
  readonly replacement: string;
}

interface Verdict {
  readonly outcome: 'killed' | 'timeout' | 'survived' | 'unreached';
  readonly by?: string;
}

interface Run {
  readonly commit: string;
  readonly seed: string;
  readonly count: number;
}

interface Results {
  add(mutant: { id: string; original: string; replacement: string }, phase: 1 | 2, verdict: Verdict): void;
  isOpen(id: string, phase: 1 | 2): boolean;
}

type SecondsOf = (name: string) => number;

const load = async (file: string): Promise<unknown> => import(path.join(FOLDER, file));

const { choose, describe, idOf } = (await load('choice.mjs')) as {
  choose(ids: readonly string[], choice: { seed: string; count: number }): string[];
  describe(found: Found, content: string): Record<string, unknown>;
  idOf(found: Found): string;
};
const { costOf, groups, nearestFirst } = (await load('order.mjs')) as {
  costOf(code: string): number;
  groups(names: readonly string[], secondsOf: SecondsOf): string[][];
  nearestFirst(file: string, names: readonly string[], secondsOf: SecondsOf): string[];
};
const { Results: ResultsFile } = (await load('results.mjs')) as {
  Results: { resume(file: string, run: Run): Results; read(file: string): Results };
};
const { difference, scoreOf, survivorsOf } = (await load('report.mjs')) as {
  difference(before: Results, after: Results): { compared: number; lost: string[]; gained: string[] };
  scoreOf(results: Results): string;
  survivorsOf(results: Results): string[];
};

const ids = Array.from({ length: 100 }, (_, index) => `hub/hub.ts:${index}:1:BlockStatement:0`);

const COMPARISON: Found = {
  fileName: 'hub/hub.ts',
  location: { start: { line: 1, column: 4 }, end: { line: 2, column: 5 } },
  mutatorName: 'EqualityOperator',
  replacement: 'a <= b',
};

const RUN: Run = { commit: 'abcdef0', seed: '1', count: 3 };

test('a seed chooses the same mutants each time, in whatever order they come, and another seed others', () => {
  const chosen = choose(ids, { seed: '1', count: 10 });
  assert.equal(new Set(chosen).size, 10);
  assert.deepEqual(choose(ids.toReversed(), { seed: '1', count: 10 }), chosen);
  assert.notDeepEqual(choose(ids, { seed: '2', count: 10 }), chosen);
});

test('more mutants of a seed begin with the fewer, and a mutant that is gone changes no others', () => {
  const chosen = choose(ids, { seed: '1', count: 10 });
  assert.deepEqual(choose(ids, { seed: '1', count: 20 }).slice(0, 10), chosen);
  const [gone, ...kept] = chosen;
  const without = ids.filter((id) => id !== gone);
  assert.deepEqual(choose(without, { seed: '1', count: 10 }).slice(0, 9), kept);
});

test('an id names file, position, mutator and replacement', () => {
  const id = idOf(COMPARISON);
  assert.match(id, /^hub\/hub\.ts:2:5:EqualityOperator:[0-9a-f]{8}$/);
  assert.equal(idOf({ ...COMPARISON, id: 'another' }), id);
  assert.notEqual(idOf({ ...COMPARISON, replacement: 'a > b' }), id);
});

test('a mutant is described with the code that it replaces, in one line', () => {
  const { line, original, replacement } = describe(COMPARISON, 'if (\n    a <\n    b) c;\n');
  assert.deepEqual([line, original, replacement], [2, 'a < b', 'a <= b']);
});

test('tests of the same name come first, then those of the same folders, of the same words, and the fastest', () => {
  const seconds: Record<string, number> = { 'unit/hub/gaps': 2, 'unit/hub/hub': 3, 'unit/auth/jwks': 1 };
  const names = [
    'unit/auth/jwks',
    'e2e/hub-faults',
    'unit/bus/bus',
    'unit/hub/hub',
    'unit/hub/gaps',
    'e2e/group.slow',
  ];
  assert.deepEqual(
    nearestFirst('hub/group.ts', names, (name) => seconds[name] ?? 9),
    ['e2e/group.slow', 'unit/hub/hub', 'unit/hub/gaps', 'e2e/hub-faults', 'unit/auth/jwks', 'unit/bus/bus'],
  );
});

test('a process takes on twice as many seconds as the one before, and all names keep their order', () => {
  const names = Array.from({ length: 12 }, (_, index) => `unit/${index}`);
  const made = groups(names, () => 1);
  assert.deepEqual(
    made.map(({ length }) => length),
    [3, 6, 3],
  );
  assert.deepEqual(made.flat(), names);
  assert.deepEqual(
    groups(['a', 'b'], () => 1_000),
    [['a'], ['b']],
  );
});

test('a test with servers of its own costs more than one with services, and that more than one without', () => {
  const codes = [`test('a', () => {})`, `needs('kafka', 'redis')`, `needs('redis', 'redis-server')`];
  assert.deepEqual(codes.map(costOf), [0, 1, 2]);
});

test('a file of results can be gone on with, and only by the same run', async (t) => {
  const file = path.join(await temporaryFolder(t), 'results.jsonl');
  add(ResultsFile.resume(file, RUN), 'a', 1, { outcome: 'killed', by: 'unit/hub/hub' });
  add(ResultsFile.resume(file, RUN), 'b', 1, { outcome: 'survived' });
  const resumed = ResultsFile.resume(file, RUN);
  assert.deepEqual(
    ['a', 'b', 'c'].map((id) => [resumed.isOpen(id, 1), resumed.isOpen(id, 2)]),
    [
      [false, false],
      [false, true],
      [true, false],
    ],
  );
  add(resumed, 'b', 2, { outcome: 'survived' });
  assert.equal(resumed.isOpen('b', 2), false);
  assert.equal(readFileSync(file, 'utf8').trimEnd().split('\n').length, 4);
  assert.throws(
    () => ResultsFile.resume(file, { ...RUN, seed: '2' }),
    /expected the results of .*"seed":"2"/,
  );
});

test('the score counts timeouts as killed, and the difference names what is no longer killed', async (t) => {
  const before = ResultsFile.resume(path.join(await temporaryFolder(t), 'before.jsonl'), RUN);
  add(before, 'hub/a.ts:1:1:A:0', 1, { outcome: 'killed', by: 'unit/hub/a' });
  add(before, 'hub/b.ts:1:1:A:0', 1, { outcome: 'survived' });
  add(before, 'hub/c.ts:1:1:A:0', 1, { outcome: 'unreached' });
  const after = ResultsFile.resume(path.join(await temporaryFolder(t), 'after.jsonl'), RUN);
  add(after, 'hub/a.ts:1:1:A:0', 1, { outcome: 'survived' });
  add(after, 'hub/b.ts:1:1:A:0', 1, { outcome: 'timeout', by: 'unit/hub/b' });
  assert.match(scoreOf(before), /3 of 3 mutants tried, 1 killed \(33\.3 %, 0 .*, 1 survived, 1 not reached/);
  assert.match(scoreOf(after), /2 of 3 mutants tried, 1 killed \(50\.0 %, 1 of them by a timeout/);
  assert.deepEqual(difference(before, after), {
    compared: 2,
    lost: ['src/hub/a.ts:1 A survived in phase 1: x → y, before unit/hub/a'],
    gained: ['src/hub/b.ts:1 A timeout in phase 1: x → y, now unit/hub/b'],
  });
  assert.deepEqual(survivorsOf(after), ['src/hub/a.ts:1 A survived in phase 1: x → y']);
});

function add(results: Results, id: string, phase: 1 | 2, verdict: Verdict): void {
  results.add({ id, original: 'x', replacement: 'y' }, phase, verdict);
}
