import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { asking, post, sharedGraph } from './graph-gateway.ts';

const FILES = {
  'schema.graphql': `
    type Query { secret_house: Int }
    type Subscription { item: Item @event(topic: "items") }
    type Item { n: Int }
  `,
  'graph.js': `
    import { defineGraph } from 'sluice';
    export default defineGraph({
      authenticate: ({ token }, { headers }) => {
        const name = token ?? headers.authorization;
        return name === undefined ? {} : { name };
      },
    });
  `,
};
const READ = '{ __schema { queryType { name } } }';
const SCHEMA = { __schema: { queryType: { name: 'Query' } } };

const forViewers = sharedGraph(FILES, { INTROSPECTION: 'viewers' });
const forNone = sharedGraph(FILES, { INTROSPECTION: 'false' });

const byPost = async (gateway: GatewayProcess, query: string, token?: string): Promise<string> =>
  JSON.stringify(await post(gateway, { query }, token === undefined ? {} : { authorization: token }));

/** What a query over WebSocket brings: its result, or its errors. */
async function over(t: TestContext, gateway: GatewayProcess, query: string, token?: string): Promise<string> {
  const received = asking(t, gateway, query, token === undefined ? {} : { token });
  const end = await received.untilEnd();
  return JSON.stringify(end === 'complete' ? received.results[0] : end);
}

test('with INTROSPECTION=viewers only authenticated viewers read the schema, over WebSocket and POST', async (t) => {
  const gateway = await forViewers();
  assert.deepEqual(JSON.parse(await byPost(gateway, READ, 'ann')), { data: SCHEMA });
  assert.deepEqual(JSON.parse(await over(t, gateway, READ, 'ann')), { data: SCHEMA });
  assert.match(await byPost(gateway, READ), /"INTROSPECTION_DISABLED"/);
  assert.match(await over(t, gateway, READ), /"INTROSPECTION_DISABLED"/);
});

test('with INTROSPECTION=false nobody reads the schema, and no error and no page names what else it has', async (t) => {
  const gateway = await forNone();
  assert.match(await byPost(gateway, READ, 'ann'), /"INTROSPECTION_DISABLED"/);
  for (const answer of [
    await byPost(gateway, '{ secret_hous }'),
    await over(t, gateway, '{ secret_hous }'),
  ]) {
    assert.match(answer, /secret_hous/);
    assert.doesNotMatch(answer, /Did you mean|secret_house/);
  }
  const page = await fetch(`${gateway.httpUrl}/`, { headers: { accept: 'text/html' } });
  assert.equal(page.status, 200);
  assert.doesNotMatch(await page.text(), /subscription|secret/);
});
