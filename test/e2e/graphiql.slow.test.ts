import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { openPage } from '../helpers/chromium.ts';
import { startGateway } from '../helpers/gateway.ts';
import { testNeeding } from '../helpers/services.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { revoke, sharedGraph } from './graph-gateway.ts';
import { Graphiql } from './graphiql.ts';

const test = testNeeding('chromium');

const PHONE = { viewport: { width: 390, height: 844 } };

/** px, on a phone */
const READABLE = 280;

/** A graph for those who have the token, in a header of a request or in the parameters of a connection. */
const GUARDED = {
  'schema.graphql': 'type Subscription { tick: Tick @event(topic: "ticks") } type Tick { n: Int }',
  'graph.js': `
    import { defineGraph } from 'sluice';
    export default defineGraph({
      authenticate: ({ Authorization }, { headers }) =>
        (Authorization ?? headers.authorization) === 'Bearer good' ? { id: '1' } : null,
    });
  `,
};

const bundled = sharedGateway((scope) => startGateway(scope, {}));
const guarded = sharedGraph(GUARDED, { VIEWER_ID: 'id' });

const says = (locator: Locator, text: string | RegExp): Promise<void> =>
  locator.filter({ hasText: text }).waitFor();

/** Is in the window as a whole, which does not scroll, and nothing covers it. @param minWidth px, to be read */
async function assertReachable(locator: Locator, what: string, minWidth = 1): Promise<void> {
  const page = locator.page();
  const box = await locator.boundingBox();
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  assert.ok(box !== null && box.width >= minWidth && box.height > 0, `${what}: ${JSON.stringify(box)}`);
  assert.ok(box.x >= 0 && box.x + box.width <= width, `${what}: ${JSON.stringify(box)}`);
  assert.ok(box.y >= 0 && box.y + box.height <= height, `${what}: ${JSON.stringify(box)}`);
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const isOnTop = await locator.evaluate(
    (element, { x, y }) => element.contains(element.ownerDocument.elementFromPoint(x, y)),
    middle,
  );
  assert.ok(isOnTop, `${what} is covered`);
  assert.equal(await page.evaluate('document.scrollingElement.scrollWidth'), width);
}

test('a token in the Headers tab gets the schema and live events of a graph; GraphiQL shows how others are refused', async (t) => {
  const gateway = await guarded();
  const graphiql = await Graphiql.open(t, gateway);

  // Introspection, without a token.
  await says(graphiql.result, /"message": "Forbidden: authenticate refused the request"/);
  await says(graphiql.result, /"code": "FORBIDDEN"/);
  await says(graphiql.state, /^The schema could not be read/);

  await graphiql.playButton.click();
  await says(graphiql.result, /"message": "The connection was closed: 4403 Forbidden"/);
  await says(graphiql.state, 'Failed: The connection was closed: 4403 Forbidden');
  await graphiql.playButton.waitFor(); // The operation has ended.
  assert.equal(await graphiql.spinner.count(), 0);

  await graphiql.setHeaders({ Authorization: 'Bearer good' });
  await graphiql.page.getByRole('button', { name: 'Re-fetch GraphQL schema' }).click();
  await graphiql.page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  await graphiql.page.getByRole('link', { name: 'Subscription' }).waitFor();

  await graphiql.playButton.click();
  await says(graphiql.state, 'Connected. Waiting for events …');
  assert.equal(await graphiql.spinner.isVisible(), false, 'all is well, as far as one can see');
  await gateway.untilMetric('sluice_subscribers', 1);
  for (let n = 1; n <= 60; n += 1) await gateway.postEvent('ticks', { n });
  await says(graphiql.result, /"n": 60/);
  await says(graphiql.entries.first(), '{"tick":{"n":60}}');
  await says(graphiql.entries.nth(49), '{"tick":{"n":11}}');
  assert.equal(await graphiql.entries.count(), 50);
  await graphiql.entries.nth(1).click();
  await says(graphiql.entries.nth(1).locator('pre'), '"n": 59');
  await assertReachable(graphiql.list, 'the list');
  await assertReachable(graphiql.result, 'the result');

  // A close that comes later.
  await revoke(gateway, 'id', '1');
  await says(graphiql.result, /"message": "The connection was closed: 4403 Access was revoked"/);
  await says(graphiql.entries.first(), 'Connection closed: 4403 Access was revoked');
  await graphiql.playButton.waitFor();
  await says(graphiql.entries.nth(1), '{"tick":{"n":60}}');
});

test('GraphiQL tells a response without JSON, of a proxy say, by its status', async (t) => {
  const gateway = await bundled();
  const page = await openPage(t);
  await page.route('**/graphql', (route) => route.fulfill({ status: 403, body: '' }));
  await page.goto(`http://localhost:${gateway.port}/`);
  const { result } = new Graphiql(page);
  await says(result, /"message": "Expected JSON from http:.*\/graphql, got 403 Forbidden, no content type"/);
});

test('on a phone, nothing of GraphiQL is cut off', async (t) => {
  const gateway = await bundled();
  const graphiql = await Graphiql.open(t, gateway, PHONE);
  const { page } = graphiql;
  const editors = page.locator('.graphiql-editor:not(.hidden)');
  await assertReachable(graphiql.playButton, 'the run button');
  await assertReachable(editors.first(), 'the editor of the operation', READABLE);
  await graphiql.playButton.click();
  await graphiql.entries.nth(1).waitFor();
  await assertReachable(graphiql.stopButton, 'the stop button');
  await assertReachable(graphiql.state, 'the state');
  await assertReachable(graphiql.result, 'the result', READABLE);
  await assertReachable(graphiql.list, 'the list of results', READABLE);

  await graphiql.setHeaders({ Authorization: `Bearer ${'token'.repeat(40)}` });
  await assertReachable(editors.first(), 'the editor of the operation, above the headers', READABLE);
  await assertReachable(editors.nth(1), 'the headers', READABLE);
  for (const name of ['Show Documentation Explorer', 'Open settings dialog']) {
    await assertReachable(page.getByRole('button', { name }), name);
  }
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  await assertReachable(page.getByRole('link', { name: 'Subscription' }), 'the documentation');
  await page.getByRole('button', { name: 'Hide Documentation Explorer' }).click();
  await assertReachable(editors.first(), 'the editor, once the documentation is closed', READABLE);
  await page.getByRole('button', { name: 'Open settings dialog' }).click();
  await assertReachable(page.getByRole('dialog'), 'the settings');
});
