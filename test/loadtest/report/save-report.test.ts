import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { defaultFolder, save } from '../../../loadtest/report/save-report.ts';
import { PLOTS } from '../../../loadtest/report/plot-series.ts';
import { loadReport } from '../../helpers/load-report.ts';
import { needs } from '../../helpers/services.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const root = path.resolve(import.meta.dirname, '../../../..');

/** Of a PNG: eight bytes that every one begins with, and width and height behind the header's name. */
function sizeOfPng(bytes: Buffer): { width: number; height: number } {
  assert.equal(bytes.subarray(1, 4).toString('latin1'), 'PNG');
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

test('A report is saved as JSON, as a page, and as a picture of each plot', needs('chromium'), async (t) => {
  const folder = path.join(await temporaryFolder(t), 'made/for/it');
  const said: string[] = [];
  const report = loadReport();
  const files = await save(report, folder, { say: (line) => said.push(line) });
  const names = ['report.html', 'report.json', ...PLOTS.map(({ id }) => `${id}.png`)];
  assert.deepEqual(
    files,
    names.map((name) => path.join(folder, name)),
  );
  assert.deepEqual(
    said.map((line) => path.resolve(line)),
    files,
  );
  assert.deepEqual(JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8')), report);
  for (const { id } of PLOTS) {
    const { width, height } = sizeOfPng(await readFile(path.join(folder, `${id}.png`)));
    assert.ok(width > 2_000 && height > 400, `${id}: ${width} × ${height}`);
  }
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
