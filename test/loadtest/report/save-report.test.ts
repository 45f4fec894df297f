import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { page as pageOf } from '../../../loadtest/report/report-page.ts';
import { defaultFolder, save } from '../../../loadtest/report/save-report.ts';
import { loadReport } from '../../helpers/load-report.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const root = path.resolve(import.meta.dirname, '../../../..');

test('The page names no other host', () => {
  assert.doesNotMatch(pageOf(loadReport()), /https?:|src=|@import|url\(|<link/);
});

for (const [where, env] of [
  ['no browser', { PATH: '' }],
  ['a browser that can’t be started', { CHROMIUM: '/nonexistent/chromium' }],
] as const) {
  test(`With ${where}, JSON and page are saved, and the command says that there are no pictures`, async (t) => {
    const folder = await temporaryFolder(t);
    const said: string[] = [];
    await save(loadReport(), folder, { say: (line) => said.push(line), env });
    assert.deepEqual((await readdir(folder)).toSorted(), ['report.html', 'report.json']);
    assert.match(said[0] ?? '', /^No PNGs: .*(chromium|Chromium)/);
    assert.equal(said.length, 3);
  });
}

test('Without --out, each report has a folder named after its time, and no name leads out of the folder of reports', () => {
  const report = loadReport();
  const folder = path.join(root, 'loadtest/out');
  assert.equal(defaultFolder(report), path.join(folder, '2026-11-21T09-30-00-3f2fbef'));
  assert.equal(
    defaultFolder({ ...report, commit: '../../x y' }),
    path.join(folder, '2026-11-21T09-30-00-..-..-x-y'),
  );
});
