import assert from 'node:assert/strict';
import test from 'node:test';
import { openPage } from '../helpers/chromium.ts';
import { eventually } from '../helpers/eventually.ts';
import { needs } from '../helpers/services.ts';
import { startGraph } from './graph-gateway.ts';
import { servePages } from '../helpers/local-server.ts';

test(
  'a page of another origin that is listed asks with its cookies and any header, and reads all that it gets',
  needs('chromium'),
  async (t) => {
    const origin = await servePages(t);
    const files = {
      'schema.graphql': `
        type Query { me: String }
        type Subscription { item: Item @event(topic: "items") }
        type Item { id: ID me: String }
      `,
      'graph.js': `
        import { defineGraph } from 'sluice';
        const me = (_source, _args, { viewer }) => viewer.me;
        export default defineGraph({
          authenticate: (_params, { headers }) => ({ me: headers.cookie ?? 'none' }),
          resolvers: { Query: { me }, Item: { me } },
        });
      `,
    };
    const gateway = await startGraph(t, files, { ORIGINS: origin });
    const page = await openPage(t);
    await page.goto(origin);
    const url = `${gateway.httpUrl}/graphql`;
    const me = await page.evaluate(async (to) => {
      Object.assign((globalThis as unknown as { document: object }).document, { cookie: 'who=ann' });
      const headers = {
        'content-type': 'application/json',
        'apollo-require-preflight': 'true',
        traceparent: 'x',
      };
      const init = { credentials: 'include', headers } as const;
      const answers = [
        await fetch(to, { ...init, method: 'POST', body: '{"query":"{ me }"}' }),
        await fetch(`${to}?query={me}`, init),
      ];
      return Promise.all(answers.map((answer) => answer.text()));
    }, url);
    assert.deepEqual(me, ['{"data":{"me":"who=ann"}}', '{"data":{"me":"who=ann"}}']);
    await page.evaluate((to) => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      const query = 'subscription { item { id me } }';
      const source = new EventSource(`${to}?query=${encodeURIComponent(query)}`, { withCredentials: true });
      source.addEventListener('next', (event) => seen.push((event as MessageEvent).data as string));
      const headers = { accept: 'multipart/mixed;subscriptionSpec=1.0', 'content-type': 'application/json' };
      const body = JSON.stringify({ query });
      const read = async (): Promise<void> => {
        const response = await fetch(to, { method: 'POST', credentials: 'include', headers, body });
        const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
        for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
          const [result] = /\{"data".*\}(?=\})/.exec(part.value) ?? [];
          if (result !== undefined) seen.push(result);
        }
      };
      void read();
    }, url);
    await gateway.untilMetric('sluice_subscribers', 2);
    await gateway.postEvent('items', { id: 'a' });
    const result = '{"data":{"item":{"id":"a","me":"who=ann"}}}';
    await eventually(async () => {
      const seen = await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
      assert.deepEqual(seen, [result, result]);
    });
  },
);
