import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { openPage } from '../helpers/chromium.ts';
import { eventually } from '../helpers/eventually.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { connect, connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import { needs, redisUrl } from '../helpers/services.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';

const SCHEMA = `
  type Query { a: Int }
  type Subscription { bid(id: ID): Bid @event(topic: "bids", key: "id") }
  type Bid { id: ID, n: Int, note: String, role: String }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    authenticate: ({ id, role }) => ({ id, role }),
    resolvers: { Bid: { role: (_bid, _args, ctx) => ctx.viewer.role } },
  });
`;

/** Tests look at what is listed: a client that reads nothing is to stay. */
const gateways = sharedGateway(async (scope) => {
  const folder = await graphFolder(scope, { 'schema.graphql': SCHEMA, 'graph.js': GRAPH });
  return startGateway(scope, {
    GRAPH: folder,
    VIEWER_ID: 'id',
    PING_SECONDS: '0',
    SOCKET_BUFFER_BYTES: '100000000',
    MAX_PAYLOAD_BYTES: '1000000',
  });
});

const NUMBERS = 'subscription Numbers($id: ID) { bid(id: $id) { n } }';
const ROLES = 'subscription Roles($id: ID) { bid(id: $id) { n role note } }';

async function connectAs(
  t: TestContext,
  gateway: GatewayProcess,
  payload: Readonly<Record<string, unknown>>,
): Promise<RawSocket> {
  const socket = await connect(t, gateway.graphqlUrl);
  socket.send({ type: 'connection_init', payload });
  await socket.until(({ type }) => type === 'connection_ack');
  return socket;
}

/** Opens a view of the page. What the page complains of fails the test. */
async function open(t: TestContext, gateway: GatewayProcess, hash: string): Promise<Page> {
  const page = await openPage(t);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message());
    void dialog.dismiss();
  });
  t.after(() => assert.deepEqual(complaints, []));
  await page.goto(`${gateway.adminUrl}/debug/${hash}`);
  await page
    .locator('.count')
    .filter({ hasText: /in all/ })
    .waitFor();
  return page;
}

const rows = (page: Page): Locator => page.locator('tbody tr');

/** The texts of a column, from the first row to the last. */
async function column(page: Page, title: string): Promise<string[]> {
  const titles = await page.locator('thead th').allTextContents();
  const index = titles.indexOf(title);
  assert.notEqual(index, -1, titles.join());
  return page.locator(`tbody tr > :nth-child(${index + 1})`).allTextContents();
}

/** Waits until a column shows this. */
const untilColumn = (page: Page, title: string, expected: readonly string[]): Promise<void> =>
  eventually(async () => assert.deepEqual(await column(page, title), expected));

test(
  'the tables are sorted by a click or a key, searched, and kept in the URL',
  needs('chromium'),
  async (t) => {
    const gateway = await gateways();
    const sockets = await Promise.all(['ann', 'bob', 'cid'].map((id) => connectAs(t, gateway, { id })));
    for (const [index, socket] of sockets.entries()) {
      for (let id = 0; id <= index; id += 1) socket.subscribe(String(id), NUMBERS, { id: `item-${id}` });
    }
    await gateway.untilMetric('sluice_subscribers', 6);
    const page = await open(t, gateway, '#groups');
    await untilColumn(page, 'Subscribers', ['3', '2', '1']);

    await page.getByRole('button', { name: 'Subscribers' }).click();
    await untilColumn(page, 'Subscribers', ['1', '2', '3']);
    await page.locator('th[aria-sort=ascending]').filter({ hasText: 'Subscribers' }).waitFor();
    await page.getByRole('searchbox').fill('ITEM-1');
    await untilColumn(page, 'Variables', ['id:"item-1"']);
    await page.locator('.count').filter({ hasText: '1 match, 3 in all' }).waitFor();

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
  },
);

test(
  'the tables follow what happens, and keep what is focused, selected and scrolled to',
  needs('chromium'),
  async (t) => {
    const gateway = await gateways();
    const first = await connectAs(t, gateway, { id: 'ann' });
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
    const events = (await page.locator('thead th').allTextContents()).indexOf('Events');
    await line
      .locator(`:nth-child(${events + 1})`)
      .filter({ hasText: /^1$/ })
      .waitFor();
    assert.equal(await page.locator('.scroller').evaluate(({ scrollTop }) => scrollTop), scrolled);
    await focused.waitFor();
    await details.locator('pre').filter({ hasText: 'item-50' }).waitFor();

    const second = await connectAs(t, gateway, { id: 'bob' });
    second.subscribe('1', NUMBERS, { id: 'item-50' });
    await eventually(async () => assert.equal((await column(page, 'Subscribers'))[0], '2'));
    await focused.waitFor();

    await page.getByRole('button', { name: 'Pause' }).click();
    await page
      .locator('#status')
      .filter({ hasText: /^Paused/ })
      .waitFor();
    second.send({ type: 'complete', id: '1' });
    await gateway.untilMetric('sluice_subscribers', 60);
    assert.equal((await column(page, 'Subscribers'))[0], '2', 'nothing changes while it is paused');
    await page.getByRole('button', { name: 'Go on' }).click();
    await eventually(async () => assert.equal((await column(page, 'Subscribers'))[0], '1'));
    first.webSocket.terminate();
    await page.getByText('There are no subscriptions.').waitFor();
    await page.getByText('It is not among the rows that are listed now.').waitFor();
  },
);

test(
  'the slowest socket is on top of the connections, with what waits for it',
  needs('chromium'),
  async (t) => {
    const gateway = await gateways();
    const sockets = await Promise.all(['ann', 'bob', 'cid'].map((id) => connectAs(t, gateway, { id })));
    for (const socket of sockets) socket.subscribe('1', ROLES);
    await gateway.untilMetric('sluice_subscribers', 3);
    const page = await open(t, gateway, '#connections');
    await rows(page).nth(2).waitFor();
    sockets[1]?.webSocket.pause();
    await eventually(async () => {
      await gateway.postEvent('bids', { n: 1, note: 'x'.repeat(400_000) });
      assert.equal((await column(page, 'Viewer'))[0], 'bob');
      assert.match((await column(page, 'Waiting'))[0] ?? '', /^\d+(\.\d+)? [KM]B$/);
      // What waited at one look may all have been taken by the next, until the kernel takes no more.
      assert.match((await column(page, 'Slow for'))[0] ?? '', / s$/);
    });
    assert.deepEqual((await column(page, 'Slow for')).slice(1), ['–', '–']);
  },
);

test('the page shows what splits a group, and what that costs', needs('chromium'), async (t) => {
  const gateway = await gateways();
  const viewers = ['bidder', 'seller', 'bidder', 'auctioneer'].map((role, id) => ({ id, role }));
  const sockets = await Promise.all(viewers.map((viewer) => connectAs(t, gateway, viewer)));
  for (const socket of sockets) {
    socket.subscribe('1', ROLES);
    socket.subscribe('2', NUMBERS);
  }
  await gateway.untilMetric('sluice_subscribers', 8);
  for (let n = 0; n < 5; n += 1) await gateway.postEvent('bids', { n });
  await gateway.untilMetric('sluice_deliveries_total', 40);
  const page = await open(t, gateway, '#sharing');
  await untilColumn(page, 'Operation', ['Roles', 'Numbers']);
  assert.deepEqual(await column(page, 'Split by'), ['role (10)', '–']);
  assert.deepEqual(await column(page, 'Unshared'), ['10', '0']);
  assert.deepEqual(await column(page, 'Executions'), ['15', '5']);
  assert.deepEqual(await column(page, 'Per event'), ['3', '1']);
  assert.deepEqual(await column(page, 'Buckets'), ['3', '1']);
  await rows(page).first().click();
  await page
    .locator('.details')
    .getByText(/of 15 executions, 10 were needed for that only, about [\d.]+ ms of the event loop/)
    .waitFor();
});

test('what clients have sent is shown as text', needs('chromium'), async (t) => {
  const gateway = await gateways();
  const markup = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;
  const socket = await connectAs(t, gateway, { id: markup });
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

test(
  'several workers are looked at one at a time, and the URL says which',
  needs('chromium', 'redis'),
  async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
    const gateway = await startGateway(t, { GRAPH: folder, REDIS_URL: redisUrl(), WORKERS: '2' });
    await gateway.untilReady();
    const sockets: RawSocket[] = [];
    while (sockets.length < 5) sockets.push(await connectAndInit(t, gateway.graphqlUrl));
    const listed = async (worker: number): Promise<number> => {
      const response = await fetch(`${gateway.adminUrl}/debug/connections?worker=${worker}`);
      return ((await response.json()) as { count: number }).count;
    };
    const page = await open(t, gateway, '#connections');
    const choice = page.getByLabel('Worker');
    assert.match(
      (await choice.locator('option').allTextContents()).join(),
      /^1: process \d+,2: process \d+$/,
    );
    await page
      .locator('.count')
      .filter({ hasText: `${await listed(1)} in all` })
      .waitFor();
    await choice.selectOption('2');
    await page
      .locator('.count')
      .filter({ hasText: `${await listed(2)} in all` })
      .waitFor();
    assert.match(page.url(), /#connections\?worker=2$/);
    const link = page.getByRole('link', { name: 'Heap snapshot' });
    assert.equal(await link.getAttribute('href'), 'heap-snapshot?worker=2');
    await page.reload();
    await page
      .locator('.count')
      .filter({ hasText: `${await listed(2)} in all` })
      .waitFor();
    assert.equal(await choice.inputValue(), '2');
    assert.equal((await listed(1)) + (await listed(2)), sockets.length);
  },
);
