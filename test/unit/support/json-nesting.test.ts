import assert from 'node:assert/strict';
import test from 'node:test';
import { isNestedDeeper } from '../../../src/support/json-nesting.ts';

const CASES: readonly (readonly [text: string, most: number, isDeeper: boolean])[] = [
  ['', 0, false],
  ['[]', 0, true],
  ['[[]]', 2, false],
  ['[{"a":[1]}]', 2, true],
  ['[[],[],[],[]]', 2, false],
  ['["[[[["]', 1, false],
  [String.raw`["\"[[[[", 1]`, 1, false],
  [String.raw`["\\",[1]]`, 1, true],
  [`{"é":${'['.repeat(3)}`, 3, true],
  ['['.repeat(1_000), 999, true],
  ['['.repeat(1_000), 1_000, false],
];

for (const [text, most, isDeeper] of CASES) {
  test(`${text.slice(0, 20)} of ${text.length} is ${isDeeper ? '' : 'not '}deeper than ${most}`, () => {
    assert.equal(isNestedDeeper(Buffer.from(text), most), isDeeper);
  });
}
