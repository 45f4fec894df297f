import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { Page, ROOT } from './markdown.ts';

const PAGE = 'docs/internals/promises.md';

/** A row of the page: a promise, a link to a file, the beginning of a test's name. */
const ROW = /^\| .+ \| \[[^\]]+\]\((?<target>[^)]+)\) +\| (?<name>.+?) +\|$/;

test('each promise has a test of that name, in a file that npm test runs', async () => {
  const { text } = await Page.read(PAGE);
  const rows = text.split('\n').flatMap((line) => {
    const row = ROW.exec(line)?.groups;
    return row === undefined ? [] : [row];
  });
  const missing: string[] = [];
  for (const { target = '', name = '' } of rows) {
    const file = path.join(path.dirname(PAGE), target);
    const code = await readFile(path.join(ROOT, file), 'utf8');
    // A suite over several implementations puts the name of each before.
    const isNamed = [`'`, '`', '"', ': '].some((before) => code.includes(before + name));
    if (!isNamed || file.includes('.slow.')) missing.push(`${file}: ${name}`);
  }
  assert.deepEqual(missing, []);
  const listed = text.split('\n').filter((line) => line.includes('../../test/'));
  assert.ok(
    rows.length > 50 && rows.length === listed.length,
    `expected all rows to be read, got ${rows.length}`,
  );
});
