import assert from 'node:assert/strict';
import test from 'node:test';
import type { Page } from 'playwright-core';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { needs } from '../helpers/services.ts';
import { startItems } from './graph-gateway.ts';
import { openQuietPage } from './quiet-page.ts';

const PANELS = [
  'Connections',
  'Events',
  'Deliveries',
  'Delay, consumed to flushed',
  'Event loop, busy',
  'Memory',
  'Pressure, share of the fullest limit',
];

/** Waits until a panel shows such a value for one of its lines. */
function value(page: Page, panel: string, line: string, hasText: RegExp): Promise<void> {
  return page
    .locator('.panel')
    .filter({ has: page.getByRole('heading', { name: panel, exact: true }) })
    .locator('.legend div')
    .filter({ hasText: line })
    .locator('dd')
    .filter({ hasText })
    .waitFor();
}

test(
  'the page at /debug/ plots the metrics live, asks no other host for anything, and says when the gateway is gone',
  needs('chromium'),
  async (t) => {
    const gateway = await startItems(t);
    const { page, hosts, complaints } = await openQuietPage(t);
    await page.goto(`${gateway.adminUrl}/debug/`);
    await value(page, 'Connections', 'connections', /^0$/);
    assert.deepEqual(await page.locator('.panel:visible h2').allTextContents(), PANELS);
    await value(page, 'Memory', 'heap used', /^\d+ MB$/);
    await value(page, 'Event loop, busy', 'utilisation', /^\d+ %$/);

    const sockets = await Promise.all([1, 2].map(() => connectAndInit(t, gateway.graphqlUrl)));
    for (const socket of sockets) socket.subscribe('1', 'subscription { item { id } }');
    await gateway.untilMetric('sluice_subscribers', 2);
    await value(page, 'Connections', 'connections', /^2$/);
    await value(page, 'Connections', 'subscribers', /^2$/);

    const posting = setInterval(() => void gateway.postEvent('items', { id: 1 }), 50);
    t.after(() => clearInterval(posting));
    for (const [panel, line] of [
      ['Events', 'consumed'],
      ['Events', 'executions'],
      ['Deliveries', 'deliveries'],
    ] as const) {
      await value(page, panel, line, /^[1-9][\d.]*\/s$/);
    }
    await value(page, 'Delay, consumed to flushed', 'median', / m?s$/);
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
    // What it asks of a gateway that is gone, the browser tells as errors.
    await page.goto('about:blank');
    complaints.length = 0;
  },
);
