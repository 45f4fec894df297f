import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '../helpers/eventually.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { testNeeding, redisUrl } from '../helpers/services.ts';
import { sharedGraph, startItems } from './graph-gateway.ts';
import { openQuietPage } from './quiet-page.ts';

const test = testNeeding('chromium');
const it = testNeeding('chromium', 'redis');

const SCHEMA = `
  type Query { a: Int }
  type Subscription { bid(id: ID): Bid @event(topic: "bids", key: "id") }
  type Bid { id: ID, n: Int, role: String }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    authenticate: ({ id, role }) => ({ id, role }),
    resolvers: { Bid: { role: (_bid, _args, ctx) => ctx.viewer.role } },
  });
`;

const gateways = sharedGraph({ 'schema.graphql': SCHEMA, 'graph.js': GRAPH }, { VIEWER_ID: 'id' });

const NUMBERS = 'subscription Numbers($id: ID) { bid(id: $id) { n } }';
const ROLES = 'subscription Roles($id: ID) { bid(id: $id) { n role } }';

const connectAll = (t: TestContext, gateway: GatewayProcess, ...viewers: readonly object[]) =>
  Promise.all(viewers.map((viewer) => connectAndInit(t, gateway.graphqlUrl, viewer)));

const [ANN, BOB, CID] = [{ id: 'ann' }, { id: 'bob' }, { id: 'cid' }];

/** Opens a view of the page. */
async function open(t: TestContext, gateway: GatewayProcess, hash: string): Promise<Page> {
  const { page } = await openQuietPage(t);
  await page.goto(`${gateway.adminUrl}/debug/${hash}`);
  await shows(page, '.count', /in all/);
  return page;
}

/** Waits until such a part of the page says this. */
const shows = (page: Page, selector: string, hasText: string | RegExp): Promise<void> =>
  page.locator(selector).filter({ hasText }).waitFor();

const titles = (page: Page): Promise<string[]> => page.locator('thead th').allTextContents();

const rows = (page: Page): Locator => page.locator('tbody tr');

/** The texts of a column, from the first row to the last. */
async function column(page: Page, title: string): Promise<string[]> {
  const index = (await titles(page)).indexOf(title);
  assert.notEqual(index, -1, title);
  return page.locator(`tbody tr > :nth-child(${index + 1})`).allTextContents();
}

/** Waits until a column shows this. */
const untilColumn = (page: Page, title: string, expected: readonly string[]): Promise<void> =>
  eventually(async () => assert.deepEqual(await column(page, title), expected));

test('the tables are sorted by a click or a key, searched, and kept in the URL', async (t) => {
  const gateway = await gateways();
  const sockets = await connectAll(t, gateway, ANN, BOB, CID);
  for (const [index, socket] of sockets.entries()) {
    for (let id = 0; id <= index; id += 1) socket.subscribe(String(id), NUMBERS, { id: `item-${id}` });
  }
  await gateway.untilMetric('sluice_subscribers', 6);
  const page = await open(t, gateway, '#groups');
  await untilColumn(page, 'Subscribers', ['3', '2', '1']);

  await page.getByRole('button', { name: 'Subscribers' }).click();
  await untilColumn(page, 'Subscribers', ['1', '2', '3']);
  await shows(page, 'th[aria-sort=ascending]', 'Subscribers');
  await page.getByRole('searchbox').fill('ITEM-1');
  await untilColumn(page, 'Variables', ['id:"item-1"']);
  await shows(page, '.count', '1 match, 3 in all');

  await page.reload();
  await untilColumn(page, 'Variables', ['id:"item-1"']);
  assert.equal(await page.getByRole('searchbox').inputValue(), 'ITEM-1');
  await page.getByRole('searchbox').fill('');
  await untilColumn(page, 'Subscribers', ['1', '2', '3']);

  await page.getByRole('link', { name: 'Connections', exact: true }).last().click();
  await page.getByRole('button', { name: 'Operations' }).press('Enter');
  await untilColumn(page, 'Operations', ['3', '2', '1']);
  assert.deepEqual(await column(page, 'Viewer'), ['cid', 'bob', 'ann']);
  await page.getByRole('searchbox').fill('bob');
  await untilColumn(page, 'Viewer', ['bob']);
  await page.goBack();
  await untilColumn(page, 'Subscribers', ['1', '2', '3']);
});

test('the tables follow what happens, and keep what is focused, selected and scrolled to', async (t) => {
  const gateway = await gateways();
  const first = await connectAndInit(t, gateway.graphqlUrl, ANN);
  for (let id = 0; id < 60; id += 1) first.subscribe(String(id), NUMBERS, { id: `item-${id}` });
  await gateway.untilMetric('sluice_subscribers', 60);
  const page = await open(t, gateway, '#groups');
  await rows(page).nth(59).waitFor();
  const line = rows(page).filter({ hasText: 'item-50' });
  await line.getByRole('button').press('Enter');
  const details = page.locator('.details');
  const focused = line.locator('button:focus');
  await details.getByText('Events').first().waitFor();
  const scrolled = await page.locator('.scroller').evaluate((scroller) => {
    scroller.scrollTop = 700;
    return scroller.scrollTop;
  });
  await gateway.postEvent('bids', { id: 'item-50', n: 1 });
  const events = (await titles(page)).indexOf('Events');
  await line
    .locator(`:nth-child(${events + 1})`)
    .filter({ hasText: /^1$/ })
    .waitFor();
  assert.equal(await page.locator('.scroller').evaluate(({ scrollTop }) => scrollTop), scrolled);
  await focused.waitFor();
  await details.locator('pre').filter({ hasText: 'item-50' }).waitFor();

  const second = await connectAndInit(t, gateway.graphqlUrl, BOB);
  second.subscribe('1', NUMBERS, { id: 'item-50' });
  await eventually(async () => assert.equal((await column(page, 'Subscribers'))[0], '2'));
  await focused.waitFor();

  await page.getByRole('button', { name: 'Pause' }).click();
  await shows(page, '#status', /^Paused/);
  second.send({ type: 'complete', id: '1' });
  await gateway.untilMetric('sluice_subscribers', 60);
  assert.equal((await column(page, 'Subscribers'))[0], '2', 'nothing changes while it is paused');
  await page.getByRole('button', { name: 'Go on' }).click();
  await eventually(async () => assert.equal((await column(page, 'Subscribers'))[0], '1'));
  first.webSocket.terminate();
  await page.getByText('There are no subscriptions.').waitFor();
  await page.getByText('It is not among the rows that are listed now.').waitFor();
});

test('the page shows what splits a group, and what that costs', async (t) => {
  const gateway = await gateways();
  const roles = ['bidder', 'seller', 'bidder', 'auctioneer'];
  const sockets = await connectAll(t, gateway, ...roles.map((role, id) => ({ id, role })));
  for (const socket of sockets) {
    socket.subscribe('1', ROLES);
    socket.subscribe('2', NUMBERS);
  }
  await gateway.untilMetric('sluice_subscribers', 8);
  for (let n = 0; n < 5; n += 1) await gateway.postEvent('bids', { n });
  await gateway.untilMetric('sluice_deliveries_total', 40);
  const page = await open(t, gateway, '#sharing');
  await untilColumn(page, 'Operation', ['Roles', 'Numbers']);
  for (const [title, expected] of Object.entries({
    'Split by': ['role (10)', '–'],
    Unshared: ['10', '0'],
    Executions: ['15', '5'],
    'Per event': ['3', '1'],
    Buckets: ['3', '1'],
  }))
    await untilColumn(page, title, expected);
  await rows(page).first().click();
  await page
    .locator('.details')
    .getByText(/of 15 executions, 10 were needed for that only, about [\d.]+ ms of the event loop/)
    .waitFor();
});

test('what clients have sent is shown as text', async (t) => {
  const gateway = await gateways();
  const markup = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;
  const socket = await connectAndInit(t, gateway.graphqlUrl, { id: markup });
  const query = `subscription Hostile($id: ID) { bid(id: $id) { n } } # ${markup}`;
  socket.subscribe('1', query, { id: markup });
  await gateway.untilMetric('sluice_subscribers', 1);
  for (const [view, title, expected] of [
    ['groups', 'Variables', `id:${JSON.stringify(markup)}`],
    ['channels', 'Name', `sluice:bids:id=${encodeURIComponent(markup)}`],
    ['connections', 'Viewer', markup],
  ] as const) {
    const page = await open(t, gateway, `#${view}?search=${encodeURIComponent('img')}`);
    await untilColumn(page, title, [expected]);
    await rows(page).getByRole('button').click();
    await page.locator('.details').waitFor();
    assert.equal(await page.locator('#view img, #view script').count(), 0, view);
  }
});

it('several workers are looked at one at a time, and the URL says which', async (t) => {
  const gateway = await startItems(t, { REDIS_URL: redisUrl(), WORKERS: '2' });
  await gateway.untilReady();
  const sockets: RawSocket[] = [];
  while (sockets.length < 5) sockets.push(await connectAndInit(t, gateway.graphqlUrl));
  const listed = async (worker: number): Promise<number> =>
    (await gateway.debug<{ count: number }>(`connections?worker=${worker}`)).count;
  const page = await open(t, gateway, '#connections');
  const choice = page.getByLabel('Worker');
  await eventually(async () => {
    const options = await choice.locator('option').allTextContents();
    assert.match(options.join(), /^1: process \d+,2: process \d+$/);
  });
  await shows(page, '.count', `${await listed(1)} in all`);
  await choice.selectOption('2');
  await shows(page, '.count', `${await listed(2)} in all`);
  assert.match(page.url(), /#connections\?worker=2$/);
  await page.locator('a[href="heap-snapshot?worker=2"]').waitFor();
  await page.reload();
  await shows(page, '.count', `${await listed(2)} in all`);
  assert.equal(await choice.inputValue(), '2');
  assert.equal((await listed(1)) + (await listed(2)), sockets.length);
});
