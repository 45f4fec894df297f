import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../helpers/eventually.ts';
import { startReady, type GatewayProcess } from '../helpers/gateway.ts';
import { subscribed as subscribedTo } from '../helpers/graphql-client.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { kcat } from '../helpers/kcat.ts';
import { testNeeding, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';
import { answerOf, BID, gatewayOf, publish, subscribed } from './explained-bids.ts';
import { openQuietPage } from './quiet-page.ts';

const test = testNeeding('chromium');
const it = testNeeding('chromium', 'kafka', 'redis', 'kcat');

const WIDTHS = [1_280, 390];

async function open(
  t: TestContext,
  { adminUrl }: GatewayProcess,
  question: Readonly<Record<string, string>> = {},
): Promise<Page> {
  const { page } = await openQuietPage(t, /Failed to load resource/);
  await page.goto(`${adminUrl}/debug/#explain?${new URLSearchParams(question)}`);
  return page;
}

const asked = (connection: string, offset: number) => ({
  connection,
  topic: 'bids',
  partition: '0',
  offset: `${offset}`,
});

async function assertFits(page: Page): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const needed = Number(await page.evaluate('document.documentElement.scrollWidth'));
    assert.ok(needed <= width, `expected ${width} px to be enough, got ${needed}`);
  }
}

/** The part of the answer that is of one subscription field. */
const partOf = (page: Page, field: string): Locator =>
  page.locator('.answer section').filter({ has: page.getByRole('heading', { name: field, exact: true }) });

test('the page shows why an event was filtered out', async (t) => {
  const gateway = await gatewayOf();
  const id = await subscribed(t, gateway, 'subscription Large { large(min: 100) { n } }');
  await answerOf(gateway, id, 0);
  const offset = await publish(gateway, { ...BID, amount: { value: '<b>42</b>' } });
  const page = await open(t, gateway, asked(id, offset));
  const part = partOf(page, 'large');
  // It is asked once the event was accepted, which may be before it was dispatched.
  await eventually(async () => {
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('.answer[aria-busy=false]').waitFor();
    assert.equal(await part.locator('.verdict').innerText(), 'filtered out');
    assert.match(await part.innerText(), /amount\.value gte \$min \(100\)\s*the event has\s*"<b>42<\/b>"/);
  });
  await partOf(page, 'Consumed')
    .getByText('by auction_id "7" to sluice:bids, sluice:bids:auction_id=7')
    .waitFor();
  await assertFits(page);
});

test('a question is typed in, kept in the URL, and answered anew when it is asked again', async (t) => {
  const gateway = await gatewayOf();
  const id = await subscribed(t, gateway, 'subscription Who { bid { n who } }');
  const page = await open(t, gateway);
  await page
    .locator('.answer')
    .getByText(/^Name a topic, a key or an event of it, and the connection/)
    .waitFor();
  const offset = (await publish(gateway, BID)) + 1;
  for (const [label, value] of [
    ['Connection', id],
    ['Topic', 'bids'],
    ['Partition', '0'],
    ['Offset', `${offset}`],
  ] as const) {
    await page.getByLabel(label, { exact: true }).fill(value);
  }
  await page.getByRole('button', { name: 'Explain' }).click();
  const verdict = partOf(page, 'bid').locator('.verdict');
  await verdict.getByText('not recorded', { exact: true }).waitFor();
  assert.equal(new URL(page.url()).hash, `#explain?connection=${id}&topic=bids&partition=0&offset=${offset}`);
  await publish(gateway, BID);
  await page.getByRole('button', { name: 'Explain' }).click();
  await verdict.getByText('delivered', { exact: true }).waitFor();
});

test('the page says while it asks, and why there is no answer', async (t) => {
  const gateway = await gatewayOf();
  const page = await open(t, gateway);
  const answering: { go?: () => void } = {};
  const held = new Promise<void>((resolve) => (answering.go = resolve));
  await page.route('**/debug/explain?*', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${gateway.adminUrl}/debug/#explain?${new URLSearchParams(asked('none', 0))}`);
  await page.locator('.answer[aria-busy=true]').getByText('Asking …').waitFor();
  answering.go?.();
  await page
    .getByRole('alert')
    .getByText(/^No explanation: connection: expected the id of one that is open .* got none\.$/)
    .waitFor();
  await page.locator('.answer[aria-busy=false]').waitFor();
  await assertFits(page);
});

test('without a connection the page shows what became of the event before it was published', async (t) => {
  const gateway = await gatewayOf();
  await fetch(`${gateway.adminUrl}/debug/explain?topic=bids&partition=0&offset=0`);
  const offset = await publish(gateway, BID);
  const { connection: _, ...event } = asked('', offset);
  const page = await open(t, gateway, event);
  await partOf(page, 'Consumed').locator('.verdict').getByText('routed', { exact: true }).waitFor();
  assert.equal(await page.locator('.answer section').count(), 1);
});

it('by a key all workers of all pods that are named are asked for its last events, though nothing was recorded', async (t) => {
  const topic = await createTopic(t);
  const settings = { GRAPH: await itemGraph(t, topic), ...podSettings(topic), WORKERS: '2' };
  const [gateway, other] = await Promise.all([startReady(t, settings), startReady(t, settings)]);
  const { port } = new URL(other.adminUrl);
  const client = await subscribedTo(t, gateway, { query: 'subscription { item(id: "7") { id n } }' });
  const workers = ['1', '2'];
  const connections = await Promise.all(
    workers.map(async (worker) => {
      const page = `connections?worker=${worker}`;
      const { rows } = await gateway.debug<{ rows: readonly { id: string }[] }>(page);
      return rows.map(({ id }) => ({ worker, id }));
    }),
  );
  const [{ worker, id } = { worker: '', id: '' }] = connections.flat();
  await kcat(t, topic, [
    { key: 'k', value: '{"id":"7","n":1}' },
    { key: 'k', value: '{"id":"8","n":2}' },
  ]);
  await client.until(1);
  const page = await open(t, gateway, { connection: id, topic, worker });
  await page.getByLabel('Key', { exact: true }).fill('7');
  await page.getByLabel('Other pods', { exact: true }).fill(`${port}, 1`);
  const verdict = partOf(page, 'item').locator('.verdict');
  await eventually(async () => {
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('.answer[aria-busy=false]').waitFor();
    assert.deepEqual(await verdict.allInnerTexts(), ['let through']);
    const consumed = await partOf(page, 'Consumed').innerText();
    assert.match(consumed, new RegExp(`at 20\\S+ by (this pod|port ${port}), worker [12]\n`));
    assert.match(consumed, /by id "7" to /);
  });
  assert.equal(await page.locator('.answer h2').innerText(), `${topic} 0/0, connection ${id}`);
  for (const pod of ['this pod', `port ${port}`]) {
    for (const one of workers) {
      await page
        .locator('.answer')
        .getByText(new RegExp(`^${pod}, worker ${one}: of ${topic}, \\d+ events? recorded since`))
        .waitFor();
    }
  }
  await page
    .locator('.answer')
    .getByText(/^port 1 could not be asked: /)
    .waitFor();
  assert.match(page.url(), new RegExp(`&pods=${port}%2C\\+1&`));
  await assertFits(page);
});
