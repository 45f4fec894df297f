import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { Page, ROOT } from './markdown.ts';

const PAGE = 'docs/internals/promises.md';

/** A row of the page: a promise, a link to a file, the beginning of a test's name. */
const ROW = /^\| .+ \| \[[^\]]+\]\((?<target>[^)]+)\) +\| (?<name>.+?) +\|$/;

/** Begins the section of slow tests. */
const SLOW = '## With brokers, clusters and processes of their own';

test('each promise has a test of that name, in a file that npm test runs where the page says so', async () => {
  const { text } = await Page.read(PAGE);
  const lines = text.split('\n');
  const rows = lines.flatMap((line, index) => {
    const { target, name } = ROW.exec(line)?.groups ?? {};
    const isSlow = index > lines.indexOf(SLOW);
    return target === undefined || name === undefined ? [] : [{ target, name, isSlow }];
  });
  const missing: string[] = [];
  for (const { target, name, isSlow } of rows) {
    const file = path.join(path.dirname(PAGE), target);
    const code = await readFile(path.join(ROOT, file), 'utf8');
    // A suite over several implementations puts the name of each before.
    const isNamed = [`'`, '`', '"', ': '].some((before) => code.includes(before + name));
    if (!isNamed || file.includes('.slow.') !== isSlow) missing.push(`${file}: ${name}`);
  }
  assert.deepEqual(missing, []);
  const listed = lines.filter((line) => line.includes('../../test/'));
  assert.ok(
    rows.length > 50 && rows.length === listed.length,
    `expected all rows to be read, got ${rows.length}`,
  );
});
