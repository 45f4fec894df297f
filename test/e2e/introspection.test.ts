import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';

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

const gatewayWith = (INTROSPECTION: string) =>
  sharedGateway(async (scope) =>
    startGateway(scope, { GRAPH: await graphFolder(scope, FILES), INTROSPECTION }),
  );
const forViewers = gatewayWith('viewers');
const forNone = gatewayWith('false');

async function post(gateway: GatewayProcess, query: string, token?: string): Promise<string> {
  const response = await fetch(`${gateway.httpUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: token }) },
    body: JSON.stringify({ query }),
  });
  return response.text();
}

/** What an operation over WebSocket brings: its first result, or its errors. */
async function over(
  t: TestContext,
  gateway: GatewayProcess,
  query: string,
  { token, variables }: { token?: string; variables?: Record<string, unknown> } = {},
): Promise<string> {
  const client = graphqlClient(
    t,
    gateway.graphqlUrl,
    token === undefined ? {} : { connectionParams: { token } },
  );
  const received = new Received(client, query, variables);
  const end = await received.untilEnd();
  return JSON.stringify(end === 'complete' ? received.results[0] : end);
}

test('with INTROSPECTION=viewers only authenticated viewers read the schema, over WebSocket and POST', async (t) => {
  const gateway = await forViewers();
  assert.deepEqual(JSON.parse(await post(gateway, READ, 'ann')), { data: SCHEMA });
  assert.deepEqual(JSON.parse(await over(t, gateway, READ, { token: 'ann' })), { data: SCHEMA });
  assert.match(await post(gateway, READ), /"INTROSPECTION_DISABLED"/);
  assert.match(await over(t, gateway, READ), /"INTROSPECTION_DISABLED"/);
});

test('with INTROSPECTION=false no viewer reads the schema, and __typename stays', async (t) => {
  const gateway = await forNone();
  for (const query of [READ, '{ __type(name: "Where") { name } }']) {
    assert.match(await post(gateway, query, 'ann'), /"INTROSPECTION_DISABLED"/);
    assert.match(await over(t, gateway, query, { token: 'ann' }), /"INTROSPECTION_DISABLED"/);
  }
  assert.deepEqual(JSON.parse(await post(gateway, '{ __typename }')), { data: { __typename: 'Query' } });
});

test('without introspection no error and no page names what else the schema has', async (t) => {
  const gateway = await forNone();
  const where = { where: { secret_gardn: 1 } };
  const answers = [
    await post(gateway, '{ secret_hous }'),
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
