import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { openPage } from '../helpers/chromium.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { needs } from '../helpers/services.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';

const SCHEMA = `
  type Query { read: Int calls: Int }
  type Mutation { call: Int }
  type Subscription { item: Item @event(topic: "items") }
  type Item { id: ID }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  let calls = 0;
  const call = () => (calls += 1);
  export default defineGraph({ resolvers: { Query: { read: call, calls: () => calls }, Mutation: { call } } });
`;

const gatewayOf = sharedGateway(async (scope) => {
  const folder = await graphFolder(scope, { 'schema.graphql': SCHEMA, 'graph.js': GRAPH });
  return startGateway(scope, { GRAPH: folder, ORIGINS: 'https://app.example' });
});

/** How often a resolver was called for a page. */
async function calls(gateway: GatewayProcess): Promise<number> {
  const response = await fetch(`${gateway.httpUrl}/graphql?query={calls}`);
  return ((await response.json()) as { data: { calls: number } }).data.calls;
}

/** A page of an origin that ORIGINS does not list. */
async function openForeignPage(t: TestContext): Promise<{ page: Page; origin: string }> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const page = await openPage(t);
  await page.goto(origin);
  return { page, origin };
}

test(
  'a browser shows a page of another origin why it is refused, unless it sends credentials',
  needs('chromium'),
  async (t) => {
    const gateway = await gatewayOf();
    const { page, origin } = await openForeignPage(t);
    const ask = (method: 'GET' | 'POST', credentials: 'omit' | 'include'): Promise<unknown> =>
      page.evaluate(
        async ({ url, ...init }) => {
          try {
            const response = await fetch(init.method === 'GET' ? `${url}?query={read}` : url, {
              ...init,
              headers: { 'content-type': 'application/json', authorization: 'Bearer a.b.c' },
              ...(init.method === 'POST' && { body: '{"query":"mutation { call }"}' }),
            });
            const { errors } = (await response.json()) as { errors: { message: string }[] };
            return [response.status, errors[0]?.message];
          } catch (error) {
            return (error as Error).name;
          }
        },
        { url: `${gateway.httpUrl}/graphql`, method, credentials },
      );
    for (const method of ['GET', 'POST'] as const) {
      assert.deepEqual(await ask(method, 'omit'), [
        403,
        `expected an Origin that is one of those listed in ORIGINS, got "${origin}"`,
      ]);
      assert.equal(await ask(method, 'include'), 'TypeError');
    }
    assert.equal(await calls(gateway), 0);
  },
);

test(
  'a browser gets nothing executed for an image or a link of another page',
  needs('chromium'),
  async (t) => {
    const gateway = await gatewayOf();
    const { page } = await openForeignPage(t);
    const url = `${gateway.httpUrl}/graphql?query=%7Bread%7D`;
    const src = JSON.stringify(url);
    await page.evaluate(
      `new Promise((done) => Object.assign(new Image(), { src: ${src}, onerror: done, onload: done })).then(() => 0)`,
    );
    const [response] = await Promise.all([
      page.waitForResponse(url),
      page.evaluate(`void (location.href = ${src})`),
    ]);
    assert.equal(response.status(), 403);
    assert.equal(await calls(gateway), 0);
    assert.equal(await gateway.metric('sluice_refusals_total{reason="origin"}'), 2);
  },
);
