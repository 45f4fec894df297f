import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Explanation } from '../../src/explain/explanation.ts';
import { openPage } from '../helpers/chromium.ts';
import { runCli, startGateway, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { needs } from '../helpers/services.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { TRANSPORT_CLIENTS, type Asked, type Asking } from '../helpers/transport-client.ts';

const SCHEMA = `
  type Query { me: String }
  type Subscription {
    bid(auction_id: ID): Bid @event(topic: "bids", key: "auction_id")
    large(min: Int): Bid @event(topic: "bids") @filter(where: { amount: { value: { gte: "$min" } } })
    mine: Bid @event(topic: "bids") @filter(where: { bidder: { eq: "$viewer.id" } })
    own: Bid @event(topic: "bids") @auth(owner: { field: "bidder", is: "id" })
    latest: Bid @event(topic: "bids") @delivery(onSlow: CONFLATE, conflateBy: "auction_id")
    sale: Sale @event(topic: "sales")
  }
  type Bid { n: Int auction_id: ID bidder: String amount: Amount must: String! text: String who: String }
  type Amount { value: Int }
  type Sale { n: Int }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    authenticate: ({ user }) => ({ id: user ?? 'ann' }),
    resolvers: { Bid: { who: (_bid, _args, { viewer }) => viewer.id } },
  });
`;

const gatewayOf = sharedGateway(async (scope) =>
  startGateway(scope, {
    GRAPH: await graphFolder(scope, { 'schema.graphql': SCHEMA, 'graph.js': GRAPH }),
    SOCKET_BUFFER_BYTES: '262144',
  }),
);

interface Listed {
  readonly rows: readonly { readonly id: string }[];
}

async function idsOf({ adminUrl }: GatewayProcess): Promise<string[]> {
  const { rows } = (await (await fetch(`${adminUrl}/debug/connections`)).json()) as Listed;
  return rows.map(({ id }) => id);
}

/** A client that is subscribed, and the id of its connection. */
async function subscribed(
  t: TestContext,
  gateway: GatewayProcess,
  asked: Asked,
): Promise<{ asking: Asking; id: string }> {
  const before = await idsOf(gateway);
  const subscribers = await gateway.metric('sluice_subscribers');
  const asking = TRANSPORT_CLIENTS.webSocket.ask(t, gateway, asked);
  await gateway.untilMetric('sluice_subscribers', subscribers + 1);
  const id = (await idsOf(gateway)).find((one) => !before.includes(one));
  assert.ok(id !== undefined);
  return { asking, id };
}

let published = -1;

/** @returns its offset */
async function publish(gateway: GatewayProcess, topic: string, event: object): Promise<number> {
  const response = await fetch(`${gateway.httpUrl}/events/${topic}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(event),
  });
  assert.equal(response.status, 202);
  if (topic === 'bids') published += 1;
  return published;
}

async function answerOf(
  gateway: GatewayProcess,
  connection: string,
  topic: string,
  offset: number,
): Promise<Explanation> {
  const query = new URLSearchParams({ connection, topic, partition: '0', offset: `${offset}` });
  const response = await fetch(`${gateway.adminUrl}/debug/explain?${query}`);
  const body = (await response.json()) as Explanation;
  assert.equal(response.status, 200, JSON.stringify(body));
  return body;
}

/** What the command line says of one event to a connection. */
async function explained(
  t: TestContext,
  gateway: GatewayProcess,
  id: string,
  offset: number,
): Promise<string> {
  const args = ['--connection', id, '--topic', 'bids', '--partition', '0', '--offset', `${offset}`];
  const { code, stdout, stderr } = await runCli(t, ['explain', ...args, '--url', gateway.adminUrl]);
  assert.equal(code, 0, stderr);
  return stdout;
}

const BID = { auctionId: '7', bidder: 'bob', amount: { value: 42 }, must: 'be' };

const cases: readonly {
  what: string;
  query: string;
  user?: string;
  event?: object;
  says: readonly RegExp[];
}[] = [
  {
    what: 'was filtered out, with the values that were compared',
    query: 'subscription { large(min: 100) { n } }',
    says: [/large: filtered out/, /amount\.value gte 100: got 42/],
  },
  {
    what: "was filtered out by the viewer's value",
    query: 'subscription { mine { n } }',
    says: [/mine: filtered out/, /bidder eq "ann": got "bob"/],
  },
  {
    what: 'is of another channel',
    query: 'subscription { bid(auction_id: "9") { n } }',
    says: [/bid: other channel/, /routed by \{"auction_id":"7"\} to .*bids/, /bid listens to .*auction_id=9/],
  },
  {
    what: 'is not for a viewer that does not own it',
    query: 'subscription { own { n } }',
    says: [/own: unauthorised/, /@auth: owner bidder is "bob", the viewer's id is "ann"/],
  },
  {
    what: 'was executed with an error',
    query: 'subscription { bid { n must } }',
    event: { ...BID, must: undefined },
    says: [/bid: executed with an error/, /error at bid\.must: /],
  },
  {
    what: 'was delivered, and with whom it is shared',
    query: 'subscription { bid { n who } }',
    says: [
      /bid: delivered/,
      /subscribers in its group: 1; let through for 1 of them; executions so far: 1/,
      /executed for this subscription alone; it has read the viewer's id\n/,
      /^ {2}consumed: published\n {4}routed by \{"auction_id":"7"\} to /m,
      /handed to the connection at 20/,
      /written at the end of that turn/,
    ],
  },
  {
    what: 'is of another topic',
    query: 'subscription { sale { n } }',
    says: [/sale: other topic/, /sale gets events of sales/],
  },
];

for (const { what, query, user, event = BID, says } of cases) {
  test(`an event that ${what} is explained, by the command line too`, async (t) => {
    const gateway = await gatewayOf();
    const { id } = await subscribed(t, gateway, { query, ...(user !== undefined && { user }) });
    // The first question begins the recording.
    const before = await answerOf(gateway, id, 'bids', 1_000_000);
    assert.ok(['not recorded', 'other topic'].includes(before.subscriptions[0]?.verdict ?? ''));
    const offset = await publish(gateway, 'bids', event);
    const said = await explained(t, gateway, id, offset);
    for (const part of says) assert.match(said, part);
    assert.match(said, new RegExp(`^bids 0/${offset}\n[^]*\n  connection ${id}\n`));
  });
}

test(
  'the page at /debug/ shows the verdict on each subscription and its reasons, and what is wrong with a question',
  needs('chromium'),
  async (t) => {
    const gateway = await gatewayOf();
    const query = 'subscription { large(min: 100) { n } }';
    const { id } = await subscribed(t, gateway, { query });
    const page = await openPage(t);
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${gateway.adminUrl}/debug/#explain`);
    const ask = async (connection: string, offset: number): Promise<void> => {
      const values = { Connection: connection, Topic: 'bids', Partition: '0', Offset: `${offset}` };
      for (const [label, value] of Object.entries(values))
        await page.getByLabel(label, { exact: true }).fill(value);
      await page.getByRole('button', { name: 'Explain' }).click();
    };
    await ask(id, 1_000_000);
    await page.locator('.pill').filter({ hasText: 'not recorded' }).waitFor();
    const amount = { value: '<b>42</b>' };
    await ask(id, await publish(gateway, 'bids', { ...BID, amount }));
    await page.locator('.pill').filter({ hasText: 'filtered out' }).waitFor();
    const verdicts = page.locator('.verdict');
    assert.deepEqual(await verdicts.locator('h2 > :first-child').allTextContents(), [
      'Consumed by this process',
      'large',
    ]);
    assert.deepEqual(await verdicts.last().locator('li').allTextContents(), [
      'amount.value gte 100: got "<b>42</b>"',
    ]);
    await ask('none', 0);
    await page.locator('.error').filter({ hasText: 'No explanation: connection: expected the id' }).waitFor();
    assert.deepEqual(complaints, []);
  },
);

test('an event that gave way to a later one, as its client was slow, is explained', async (t) => {
  const gateway = await gatewayOf();
  const { asking, id } = await subscribed(t, gateway, { query: 'subscription { latest { n text } }' });
  await answerOf(gateway, id, 'bids', 0);
  let offset = await publish(gateway, 'bids', BID);
  await asking.untilPayloads(1);
  asking.pause();
  const text = 'x'.repeat(20_000);
  while ((await gateway.metric('sluice_left_out_results_total')) < 2) {
    offset = await publish(gateway, 'bids', { ...BID, text });
  }
  const said = await explained(t, gateway, id, offset);
  assert.match(said, /latest: skipped for slowness/);
  assert.match(
    said,
    /the client was slow, with \d+ bytes waiting: by CONFLATE a later result may have taken its place/,
  );
});

test('an event from before the recording is told as such', async (t) => {
  const gateway = await gatewayOf();
  const early = await publish(gateway, 'bids', BID);
  const { id } = await subscribed(t, gateway, { query: 'subscription { bid { n } }' });
  const [first] = (await answerOf(gateway, id, 'bids', early)).subscriptions;
  assert.equal(first?.verdict, 'not recorded');
  assert.match(first?.because[0] ?? '', /recorded since 20.*, and this process has not seen the event since/);
});

test('what is asked wrongly is refused with what was expected', async (t) => {
  const gateway = await gatewayOf();
  const { code, stderr } = await runCli(t, ['explain', '--connection', '1']);
  assert.deepEqual([code, /expected --topic, --partition, --offset, got nothing/.test(stderr)], [2, true]);
  const args = ['--connection', 'none', '--topic', 'bids', '--partition', '0', '--offset', '0'];
  const unknown = await runCli(t, ['explain', ...args, '--url', gateway.adminUrl]);
  assert.equal(unknown.code, 1);
  assert.match(
    unknown.stderr,
    /connection: expected the id of one that is open in http.* \(\/debug\/connections\), got none/,
  );
  const away = await runCli(t, ['explain', ...args, '--url', 'http://127.0.0.1:1']);
  assert.equal(away.code, 1);
  const wrong = await fetch(`${gateway.adminUrl}/debug/explain?connection=1&topic=bids&partition=x&offset=0`);
  assert.equal(wrong.status, 400);
});
