import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { post, sharedGraph } from './graph-gateway.ts';

const FILES = {
  'schema.graphql': `
    type Query { secret_house: Int }
    type Subscription { item(where: Where): Item @event(topic: "items") }
    type Item { n: Int }
    input Where { secret_garden: Int }
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

/** What an operation over WebSocket brings: its first result, or its errors. */
async function over(
  t: TestContext,
  gateway: GatewayProcess,
  query: string,
  { token, variables }: { token?: string; variables?: Record<string, unknown> } = {},
): Promise<string> {
  const connectionParams = token === undefined ? {} : { token };
  const client = graphqlClient(t, gateway.graphqlUrl, { connectionParams });
  const received = new Received(client, query, variables);
  const end = await received.untilEnd();
  return JSON.stringify(end === 'complete' ? received.results[0] : end);
}

test('with INTROSPECTION=viewers only authenticated viewers read the schema, over WebSocket and POST', async (t) => {
  const gateway = await forViewers();
  assert.deepEqual(JSON.parse(await byPost(gateway, READ, 'ann')), { data: SCHEMA });
  assert.deepEqual(JSON.parse(await over(t, gateway, READ, { token: 'ann' })), { data: SCHEMA });
  assert.match(await byPost(gateway, READ), /"INTROSPECTION_DISABLED"/);
  assert.match(await over(t, gateway, READ), /"INTROSPECTION_DISABLED"/);
});

test('with INTROSPECTION=false no viewer reads the schema, and __typename stays', async (t) => {
  const gateway = await forNone();
  for (const query of [READ, '{ __type(name: "Where") { name } }']) {
    assert.match(await byPost(gateway, query, 'ann'), /"INTROSPECTION_DISABLED"/);
    assert.match(await over(t, gateway, query, { token: 'ann' }), /"INTROSPECTION_DISABLED"/);
  }
  assert.deepEqual(JSON.parse(await byPost(gateway, '{ __typename }')), { data: { __typename: 'Query' } });
});

test('without introspection no error and no page names what else the schema has', async (t) => {
  const gateway = await forNone();
  const where = { where: { secret_gardn: 1 } };
  const answers = [
    await byPost(gateway, '{ secret_hous }'),
    await over(t, gateway, '{ secret_hous }'),
    await over(t, gateway, 'subscription { item(where: { secret_gardn: 1 }) { n } }'),
    await over(t, gateway, 'subscription ($where: Where) { item(where: $where) { n } }', {
      variables: where,
    }),
  ];
  for (const answer of answers) {
    assert.match(answer, /secret_hous|secret_gardn/);
    assert.doesNotMatch(answer, /Did you mean|secret_house|secret_garden/);
  }
  const page = await fetch(`${gateway.httpUrl}/`, { headers: { accept: 'text/html' } });
  assert.equal(page.status, 200);
  assert.doesNotMatch(await page.text(), /subscription|secret/);
});
