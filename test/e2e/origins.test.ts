import assert from 'node:assert/strict';
import test from 'node:test';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { post, sharedGraph } from './graph-gateway.ts';

const ALLOWED = 'https://app.example';

const gatewayOf = sharedGraph(
  {
    'schema.graphql': `
      type Query { calls: Int }
      type Mutation { call: Int }
      type Subscription { item: Item @event(topic: "items") }
      type Item { id: ID }
    `,
    'graph.js': `
      import { defineGraph } from 'sluice';
      let calls = 0;
      export default defineGraph({
        resolvers: { Query: { calls: () => calls }, Mutation: { call: () => (calls += 1) } },
      });
    `,
  },
  { ORIGINS: ALLOWED },
);

function send(gateway: GatewayProcess, method: string, origin: string, query?: string): Promise<Response> {
  return fetch(`${gateway.httpUrl}/graphql`, {
    method,
    headers: { origin, 'content-type': 'application/json' },
    ...(query !== undefined && { body: JSON.stringify({ query }) }),
  });
}

test('a page of an origin that is not allowed has nothing executed, and can show why', async () => {
  const gateway = await gatewayOf();
  const origin = 'https://other.example';
  const preflight = await send(gateway, 'OPTIONS', origin);
  assert.equal(preflight.status, 204);
  const refused = await send(gateway, 'POST', origin, 'mutation { call }');
  assert.equal(refused.status, 403);
  assert.deepEqual(await refused.json(), {
    errors: [
      {
        message: 'expected an Origin that is one of those listed in ORIGINS, got "https://other.example"',
        extensions: { code: 'ORIGIN_NOT_ALLOWED' },
      },
    ],
  });
  for (const { headers } of [preflight, refused]) {
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(headers.get('access-control-allow-credentials'), null);
  }
  const calls = await post(gateway, { query: '{ calls }' }, { origin: ALLOWED });
  assert.deepEqual(calls, { data: { calls: 0 } });
});
