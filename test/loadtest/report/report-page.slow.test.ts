import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { page as pageOf } from '../../../loadtest/report/report-page.ts';
import { save } from '../../../loadtest/report/save-report.ts';
import type { Report } from '../../../loadtest/report/report.ts';
import { PLOTS } from '../../../loadtest/report/plot-series.ts';
import { openPage } from '../../helpers/chromium.ts';
import { loadReport } from '../../helpers/load-report.ts';
import { testNeeding } from '../../helpers/services.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const test = testNeeding('chromium');

const HOSTILE = `</script><script>document.title='taken'</script><img src="http://example.test/x" onerror="document.title='taken'">`;

interface Opened {
  readonly page: Page;
  /** What the page asked for beside itself. */
  readonly requests: readonly string[];
  /** Errors and warnings, of the page and of the browser about it. */
  readonly complaints: readonly string[];
}

/** The report as a reader opens it: from a file. */
async function open(t: TestContext, report: Report, options: BrowserContextOptions = {}): Promise<Opened> {
  const file = path.join(await temporaryFolder(t), 'report.html');
  await writeFile(file, pageOf(report));
  const page = await openPage(t, options);
  const requests: string[] = [];
  const complaints: string[] = [];
  const url = pathToFileURL(file).href;
  page.on('request', (request) => request.url() === url || requests.push(request.url()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => complaints.push(message.text()));
  await page.goto(url);
  return { page, requests, complaints };
}

test('A report is saved as JSON, as a page, and as a picture of each plot', async (t) => {
  const folder = path.join(await temporaryFolder(t), 'made/for/it');
  const said: string[] = [];
  const report = loadReport();
  const files = await save(report, folder, { say: (line) => said.push(path.resolve(line)) });
  const names = ['report.html', 'report.json', ...PLOTS.map(({ id }) => `${id}.png`)];
  const expected = names.map((name) => path.join(folder, name));
  assert.deepEqual([files, said], [expected, expected]);
  assert.deepEqual(JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8')), report);
  for (const { id } of PLOTS) {
    const png = await readFile(path.join(folder, `${id}.png`));
    assert.equal(png.subarray(1, 4).toString('latin1'), 'PNG');
    const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
    assert.ok(width > 2_000 && height > 400, `${id}: ${width} × ${height}`);
  }
});

test('The page opens from a file, requests no other, and shows each plot of each run', async (t) => {
  const { page, requests, complaints } = await open(t, loadReport());
  assert.equal(await page.title(), 'Load test: 4,000 sockets, every event to all: sluice and stock');
  const plots = await page.locator('.plot svg').all();
  assert.equal(plots.length, PLOTS.length * 2);
  for (const plot of plots) {
    const [frame, line] = [await plot.boundingBox(), await plot.locator('.line').first().boundingBox()];
    assert.ok(frame && line && line.width > frame.width / 2 && line.height > 0);
  }
  assert.equal(await page.locator('[data-plot=memory] .line').count(), 6);
  assert.deepEqual(requests, []);
  assert.deepEqual(complaints, []);
});

test('A plot shows the values at the pointer, and a phone shows runs below each other, without scrolling to the side', async (t) => {
  const { page } = await open(t, loadReport(), { viewport: { width: 400, height: 800 } });
  const figure = page.locator('[data-plot=memory] figure');
  const value = figure.first().locator('.value');
  assert.equal(await value.textContent(), '');
  await figure.first().locator('svg').hover();
  const shown = (await value.textContent()) ?? '';
  assert.match(shown, /^\d+\.0 s: resident \d+ MB, heap [\d.]+ MB, external [\d.]+ MB$/);
  await page.locator('h1').hover();
  assert.equal(await value.textContent(), '');
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 400);
  const [first, second] = [await figure.nth(0).boundingBox(), await figure.nth(1).boundingBox()];
  assert.ok(first && second && second.y >= first.y + first.height);
});

for (const [colorScheme, least, most] of [
  ['light', 201, 255],
  ['dark', 0, 49],
] as const) {
  test(`The page is ${colorScheme} for readers who prefer it so`, async (t) => {
    const { page } = await open(t, loadReport(), { colorScheme });
    const colour = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const parts = colour.match(/\d+/g)?.slice(0, 3).map(Number) ?? [];
    assert.equal(parts.filter((part) => part >= least && part <= most).length, 3, colour);
  });
}

test('The page shows texts of a report as they are, and runs no script in them', async (t) => {
  const report = loadReport();
  const hostile: Report = {
    ...report,
    commandLine: HOSTILE,
    commit: HOSTILE,
    machine: { ...report.machine, processor: HOSTILE, system: HOSTILE },
    versions: { [HOSTILE]: HOSTILE },
    load: { ...report.load, graph: HOSTILE },
    runs: report.runs.map((run) => ({ ...run, target: HOSTILE, faults: [HOSTILE] })),
  };
  const { page, requests, complaints } = await open(t, hostile);
  assert.notEqual(await page.title(), 'taken');
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 1);
  assert.ok((await page.locator('.faults').textContent())?.includes(HOSTILE));
  assert.deepEqual(requests, []);
  assert.deepEqual(complaints, []);
});
