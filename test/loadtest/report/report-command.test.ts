import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { check, resolveConfig } from 'prettier';
import { loadReport } from '../../helpers/load-report.ts';
import { loadtest } from '../../helpers/loadtest.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const root = path.resolve(import.meta.dirname, '../../../..');

test('RESULTS.md is written from files, with the notes, as the repository formats Markdown', async (t) => {
  const folder = await temporaryFolder(t);
  const [report, out] = [path.join(folder, 'report.json'), path.join(folder, 'RESULTS.md')];
  writeFileSync(report, JSON.stringify(loadReport()));
  const { code, stderr, stdout } = await loadtest('report', '--out', out, report);
  assert.equal(code, 0, stderr);
  assert.equal(path.resolve(stdout.trim()), out);
  const markdown = readFileSync(out, 'utf8');
  const introduction = readFileSync(path.join(root, 'loadtest/notes/introduction.md'), 'utf8');
  assert.ok(markdown.includes(introduction));
  assert.match(markdown, /^\| CPU per delivery, flood, µs +\| +2 \| +61 \| +30\.5× less \|$/m);
  const config = await resolveConfig(path.join(root, 'loadtest/RESULTS.md'));
  assert.ok(await check(markdown, { ...config, parser: 'markdown' }));
});

test('A missing result, or one that can’t be read, is an error of one line', async (t) => {
  const missing = path.join(await temporaryFolder(t), 'missing.json');
  const none = await loadtest('report');
  const stderr = 'expected one or more files of results (JSON), got none\n';
  assert.deepEqual(none, { code: 2, stdout: '', stderr });
  const unread = await loadtest('report', '--out', `${missing}.md`, missing);
  assert.deepEqual([unread.code, unread.stdout], [1, '']);
  assert.match(unread.stderr, /^ENOENT: .*missing\.json'\n$/);
});
