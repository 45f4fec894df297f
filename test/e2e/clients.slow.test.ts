import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { DocumentedClient } from '../helpers/documented-client.ts';
import { freePort } from '../helpers/free-port.ts';
import { startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { ScriptedServer } from '../helpers/scripted-server.ts';
import { needs } from '../helpers/services.ts';
import { SECRET } from '../helpers/tokens.ts';

/** `bid_placed` is never null, so that a bid without an amount makes a result without data. */
const SCHEMA = `
  type Subscription { bid_placed(auction_id: ID!): Bid! @event(topic: "bids", key: "auction_id", history: {}) }
  type Bid { bid_id: ID! auction_id: ID! amount: Price! }
  type Price { formatted: String! }
`;

/** Starts the client's program, or page. */
type Start = (client: DocumentedClient, port: number) => Promise<void>;

/** What the error of a fatal close code says, by library. */
const CLIENTS = {
  'graphql-ws': 'close',
  'apollo-client': 'Socket closed with event 4400 ',
  urql: '[Network] undefined',
  relay: 'close',
};
const COMPONENTS = {
  'graphql-ws-page.jsx': CLIENTS['graphql-ws'],
  'apollo-page.jsx': CLIENTS['apollo-client'],
};

const started: readonly { what: string; options: object; start: Start; closed: string }[] = [
  ...Object.entries(CLIENTS).map(([name, closed]) => ({
    what: `the program of docs/guides/clients/${name}.md`,
    options: {},
    start: (client: DocumentedClient, port: number) => client.run(name, port),
    closed,
  })),
  ...Object.entries(COMPONENTS).map(([component, closed]) => ({
    what: `${component} of docs/guides/clients/react.md`,
    options: needs('chromium'),
    start: (client: DocumentedClient, port: number) => client.render('react', port, component),
    closed,
  })),
];

/** Not a message of the protocol. */
const FATAL = 4400;

const bid = (bidId: string) => ({ bidId, auctionId: 'auction-0', amount: { formatted: `€ ${bidId}` } });

const idsOf = (bids: readonly unknown[]) => bids.map((each) => (each as { bid_id: string }).bid_id);

async function settingsFor(t: TestContext, { origin }: DocumentedClient) {
  return { GRAPH: await graphFolder(t, { 'schema.graphql': SCHEMA }), AUTH_SECRET: SECRET, ORIGINS: origin };
}

/** A gateway, and a client that has got its first bid. */
async function open(t: TestContext, start: Start) {
  const client = await DocumentedClient.create(t);
  // Where a second pod is to listen once the first one has gone.
  const settings = { ...(await settingsFor(t, client)), PORT: String(await freePort()) };
  const gateway = await startGateway(t, settings);
  await start(client, gateway.port);
  await gateway.untilMetric('sluice_subscribers', 1);
  await gateway.postEvent('bids', bid('1'));
  await client.untilCalled('showBid', 1);
  const startAgain = (): Promise<GatewayProcess> => startGateway(t, settings);
  return { gateway, client, startAgain };
}

for (const { what, options, start, closed } of started) {
  test(
    `${what} shows the errors of an event once, and goes on by itself after its only pod was gone`,
    options,
    async (t) => {
      const { gateway, client, startAgain } = await open(t, start);
      await gateway.postEvent('bids', { ...bid('2'), amount: null });
      for (const each of ['3', '4']) await gateway.postEvent('bids', bid(each));
      await client.untilCalled('showBid', 3, { despiteErrors: true });
      const { tokens } = client;
      const fetched = client.calls('fetchBids').length;
      await gateway.stop('SIGKILL');
      await client.untilCalled('refused', 2, { despiteErrors: true });
      const second = await startAgain();
      // It is subscribed again, and the history of the first pod is gone.
      await client.untilCalled('fetchBids', fetched + 1, { despiteErrors: true });
      await second.postEvent('bids', bid('5'));
      await client.untilCalled('showBid', 4, { despiteErrors: true });

      assert.deepEqual(idsOf(client.calls('showBid')), ['1', '3', '4', '5']);
      const errors = client.calls('showError');
      assert.equal(errors.length, 1);
      assert.match(String(errors[0]), /Internal server error/);
      assert.equal(client.tokens, tokens + 1, 'the second connection has a token of its own');
      const states = client.calls('showStatus');
      assert.equal(states.at(-1), 'live');
      assert.equal(states.at(-2), 'not connected');
    },
  );

  test(`${what} shows that a fatal close code has ended its subscription`, options, async (t) => {
    const server = await ScriptedServer.start(t);
    const client = await DocumentedClient.create(t);
    await start(client, Number(new URL(server.url).port));
    (await server.operation()).cut(FATAL);
    await client.untilCalled('showError', 1);
    assert.deepEqual(client.calls('showError'), [closed]);
  });
}

test('without shouldRetry graphql-ws ends a subscription at the first handshake that is refused', async (t) => {
  const { gateway, client } = await open(t, (each, port) =>
    each.run('graphql-ws', port, (code) => code.replace('  shouldRetry: () => true,\n', '')),
  );
  await gateway.stop('SIGKILL');
  await client.untilCalled('showError', 1);
  assert.equal(client.calls('refused').length, 1);
});

test('a client that can get no token for a connection goes on with a later one, once it gets one', async (t) => {
  const { gateway, client, startAgain } = await open(t, (each, port) => each.run('graphql-ws', port));
  await gateway.stop('SIGKILL');
  await client.untilCalled('refused', 1);
  client.failingTokens = 1;
  const second = await startAgain();
  // By then it has connected again: the end of the one connection must not end what is on the other.
  await client.untilCalled('closed', 1);
  await client.untilCalled('fetchBids', 2);
  await second.postEvent('bids', bid('2'));
  await client.untilCalled('showBid', 2);
  assert.equal(client.failingTokens, 0);
  assert.deepEqual(client.calls('showError'), []);
});

test('a client that begins while no pod is there fetches once, as soon as it is connected', async (t) => {
  const client = await DocumentedClient.create(t);
  const port = await freePort();
  await client.run('graphql-ws', port);
  await client.untilCalled('refused', 2);
  assert.deepEqual(client.calls('fetchBids'), []);
  const gateway = await startGateway(t, { ...(await settingsFor(t, client)), PORT: String(port) });
  await client.untilCalled('fetchBids', 1);
  await gateway.untilMetric('sluice_subscribers', 1);
  await gateway.postEvent('bids', bid('1'));
  await client.untilCalled('showBid', 1);
  assert.equal(client.calls('fetchBids').length, 1);
});
