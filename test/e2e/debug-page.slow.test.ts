import assert from 'node:assert/strict';
import test from 'node:test';
import type { Page } from 'playwright-core';
import { openPage } from '../helpers/chromium.ts';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { needs } from '../helpers/services.ts';

const PANELS = [
  'Connections',
  'Events',
  'Deliveries',
  'Delay, consumed to flushed',
  'Event loop, busy',
  'Memory',
  'Pressure, share of the fullest limit',
];

/** The value that a panel shows for one of its lines. */
function value(page: Page, panel: string, line: string) {
  return page
    .locator('.panel')
    .filter({ has: page.getByRole('heading', { name: panel, exact: true }) })
    .locator('.legend div')
    .filter({ hasText: line })
    .locator('dd');
}

test(
  'the page at /debug/ plots the metrics live, asks no other host for anything, and says when the gateway is gone',
  needs('chromium'),
  async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
    const gateway = await startGateway(t, { GRAPH: folder });
    const page = await openPage(t);
    const hosts = new Set<string>();
    const complaints: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });

    await page.goto(`${gateway.adminUrl}/debug/`);
    await value(page, 'Connections', 'connections').filter({ hasText: /^0$/ }).waitFor();
    assert.deepEqual(await page.locator('.panel:visible h2').allTextContents(), PANELS);
    await value(page, 'Memory', 'heap used')
      .filter({ hasText: /^\d+ MB$/ })
      .waitFor();
    await value(page, 'Event loop, busy', 'utilisation')
      .filter({ hasText: /^\d+ %$/ })
      .waitFor();

    const sockets = await Promise.all([1, 2].map(() => connectAndInit(t, gateway.graphqlUrl)));
    for (const socket of sockets) socket.subscribe('1', 'subscription { item { id } }');
    await gateway.untilMetric('sluice_subscribers', 2);
    await value(page, 'Connections', 'connections').filter({ hasText: /^2$/ }).waitFor();
    await value(page, 'Connections', 'subscribers').filter({ hasText: /^2$/ }).waitFor();

    const posting = setInterval(() => void gateway.postEvent('items', { id: 1 }), 50);
    t.after(() => clearInterval(posting));
    for (const [panel, line] of [
      ['Events', 'consumed'],
      ['Events', 'executions'],
      ['Deliveries', 'deliveries'],
    ] as const) {
      await value(page, panel, line)
        .filter({ hasText: /^[1-9][\d.]*\/s$/ })
        .waitFor();
    }
    await value(page, 'Delay, consumed to flushed', 'median').filter({ hasText: / m?s$/ }).waitFor();
    // Every panel draws a line of several points for each of its names.
    const lines = page.locator('svg path[d*="L"]');
    const names = await page.locator('.panel:visible .legend dt').count();
    await lines.nth(names - 1).waitFor({ state: 'attached' });
    clearInterval(posting);

    for (const link of await page.locator('footer a').all()) {
      const href = (await link.getAttribute('href')) ?? '';
      if (/profile|snapshot/.test(href)) continue;
      assert.equal((await page.request.get(new URL(href, page.url()).href)).status(), 200, href);
    }
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Heap snapshot' }).click();
    assert.match((await downloading).suggestedFilename(), /\.heapsnapshot$/);
    assert.deepEqual([...hosts], [new URL(gateway.adminUrl).host]);
    assert.deepEqual(complaints, []);

    await gateway.stop('SIGKILL');
    await page
      .locator('#status.fault')
      .filter({ hasText: /^No metrics since/ })
      .waitFor();
  },
);
