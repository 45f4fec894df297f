import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { testGateway, type TestGateway, type TestGatewayOptions } from '../../../src/testing/testing.ts';
import { graphFolder } from '../../helpers/graph-folder.ts';

const FILES = {
  'schema.graphql': `
    type Query { now: String, seller(id: ID!): Seller }
    type Mutation { greet(name: String!): String }
    type Subscription {
      bid(auction_id: ID): Bid @event(topic: "bids", key: "auction_id")
      large(min: Int): Bid @event(topic: "bids") @filter(where: { amount: { gte: "$min" } })
      own: Bid @event(topic: "bids") @filter(where: { bidder_id: { eq: "$viewer.id" } })
      secret: Bid @event(topic: "bids") @auth(requires: ["ADMIN"])
      raw: Raw @event(topic: "raw")
      latest: Bid @event(topic: "bids") @delivery(conflateBy: "auction_id", throttleMs: 250)
      sold(house_id: [ID!]!): Sale
        @event(topic: "sales", key: "seller.house.id", argument: "house_id", replay: 1)
        @filter(where: { seller: { name: { ne: "x" } } })
      status(auction_id: ID!): Bid @event(topic: "statuses", key: "auction_id", history: { ttl_seconds: 60 }, replay: 1)
    }
    type Bid { auction_id: ID, amount: Int, bidder_id: ID, seller: Seller, viewer: String, fails: Int, now: Float }
    type Seller { id: ID, full_name: String }
    type Sale { amount: Int, seller: SaleSeller }
    type SaleSeller { name: String, house: House }
    type House { id: ID }
    type Raw { text: String, key: String, timestamp: Float, headers: String }
  `,
  'graph.ts': `
    import { defineGraph, urlPath } from 'sluice';
    import DataLoader from 'dataloader';
    export default defineGraph({
      authenticate: () => { throw new Error('is not asked'); },
      backends: { users: { url: 'http://users.invalid' }, plain: { url: 'http://plain.invalid', keys: 'KEEP' } },
      loaders: (ctx) => ({
        sellers: new DataLoader<string, unknown>(async (ids) =>
          Promise.all(ids.map((id) => ctx.backends.users.get(urlPath\`/users/\${id}\`)))),
      }),
      decode: {
        raw: ({ value, key, timestamp, headers }) =>
          ({ text: value.toString(), key: key?.toString() ?? null, timestamp, headers: JSON.stringify(headers) }),
      },
      resolvers: {
        Query: {
          now: (_, args, ctx) => new Date(0).toISOString(),
          seller: (_, { id }, ctx) => ctx.backends.plain.post('/find', { id }),
        },
        Mutation: { greet: (_, { name }, ctx) => 'Hello ' + name + ' from ' + ctx.viewer.id },
        Bid: {
          seller: (bid: Record<string, unknown>, _, ctx) => ctx.loaders.sellers.load(String(bid.bidder_id)),
          viewer: (_, args, ctx) => ctx.viewer.id,
          now: (_, args, ctx) => ctx.now,
          fails: () => { throw new Error('word for word'); },
        },
      },
    });
  `,
};

const fails = (code: string) => (): never => {
  throw Object.assign(new TypeError('thrown'), { code, status: 404 });
};

async function gatewayFor(t: TestContext, options: TestGatewayOptions = {}) {
  const gateway = await testGateway(await graphFolder(t, FILES), options);
  t.after(() => gateway.close());
  return gateway;
}

/** The first error of a subscription that gets an event. */
async function errorOf(gateway: TestGateway, query: string) {
  const { results } = gateway.subscribe(query);
  await gateway.publish('bids', { bidderId: '7' });
  return results[0]?.errors?.[0];
}

describe('testGateway', () => {
  it('brings an event to the subscriptions whose channels it is on', async (t) => {
    const gateway = await gatewayFor(t);
    const [seven, all, large] = [
      gateway.subscribe('subscription ($id: ID) { bid(auction_id: $id) { amount } }', { id: '7' }),
      gateway.subscribe('subscription { bid { amount } }'),
      gateway.subscribe('subscription { large(min: 10) { amount } }'),
    ];
    await gateway.publish('bids', { auctionId: 7, amount: 5 });
    await gateway.publish('bids', { auctionId: 8, amount: 10 });
    assert.deepEqual(seven.results, [{ data: { bid: { amount: 5 } } }]);
    assert.deepEqual(all.results, [{ data: { bid: { amount: 5 } } }, { data: { bid: { amount: 10 } } }]);
    assert.deepEqual(large.results, [{ data: { large: { amount: 10 } } }]);
  });

  it('brings an event to the subscriptions to its nested key, and replays the last one of each', async (t) => {
    const gateway = await gatewayFor(t);
    const sale = (id: unknown, amount: number, name = 'ann') =>
      gateway.publish('sales', { amount, Seller: { name, theHouse: 1, house: { ID: id } } });
    const query = 'subscription ($ids: [ID!]!) { sold(house_id: $ids) { amount } }';
    const amountsOf = (ids: readonly string[]) => {
      const { results } = gateway.subscribe(query, { ids });
      return () => results.map(({ data }) => (data as { sold: { amount: number } }).sold.amount);
    };
    const seven = amountsOf(['7']);
    await sale(7, 1);
    await sale('8', 2);
    await sale(['7', '9'], 3);
    await sale(7, 4, 'x');
    await gateway.publish('sales', { amount: 5, seller: null });
    assert.deepEqual(seven(), [1, 3]);
    const late = amountsOf(['8', '9', '10']);
    await sale('10', 6);
    assert.deepEqual(late(), [2, 3, 6]);
  });

  it('iterates over results that are there and those that come, until it is left', async (t) => {
    const gateway = await gatewayFor(t);
    const subscription = gateway.subscribe<{ bid: { amount: number } }>('subscription { bid { amount } }');
    await gateway.publish('bids', { amount: 1 });
    const [first, second, third] = [subscription.next(), subscription.next(), subscription.next()];
    assert.equal((await first).value?.data?.bid.amount, 1);
    await gateway.publish('bids', { amount: 2 });
    assert.equal((await second).value?.data?.bid.amount, 2);
    await subscription.return();
    assert.equal((await third).done, true);
    await gateway.publish('bids', { amount: 3 });
    assert.equal(subscription.results.length, 2);
    const again = gateway.subscribe('subscription { bid { amount } }');
    await gateway.publish('bids', { amount: 4 });
    for await (const { data } of again) {
      assert.deepEqual(data, { bid: { amount: 4 } });
      break;
    }
    assert.equal((await again.next()).done, true);
  });

  it('asks as the viewer that it is told, and refuses as the gateway does', async (t) => {
    const gateway = await gatewayFor(t, { viewer: { id: 'ann' } });
    const asked = 'subscription { own { amount viewer } }';
    const [ann, bob] = [gateway.subscribe(asked), gateway.subscribe(asked, {}, { viewer: { id: 'bob' } })];
    await gateway.publish('bids', { amount: 1, bidderId: 'ann' });
    await gateway.publish('bids', { amount: 2, bidderId: 'bob' });
    assert.deepEqual(ann.results, [{ data: { own: { amount: 1, viewer: 'ann' } } }]);
    assert.deepEqual(bob.results, [{ data: { own: { amount: 2, viewer: 'bob' } } }]);
    assert.throws(() => gateway.subscribe('subscription { secret { amount } }'), {
      name: 'OperationRefused',
      message: /may not use Subscription.secret/,
    });
    gateway.subscribe('subscription { secret { amount } }', {}, { viewer: { role: 'ADMIN' } });
    assert.throws(() => gateway.subscribe('subscription { nope }'), /Cannot query field "nope"/);
    assert.throws(() => gateway.subscribe('{ now }'), /expected a subscription, got a query/);
  });

  it('refuses variables that the operation does not declare, and unknown options, before it asks who may', async (t) => {
    const gateway = await gatewayFor(t);
    const secret = 'subscription { secret { amount } }';
    const viewer = { role: 'ADMIN' };
    const misplaced = {
      name: 'TypeError',
      message: 'expected variables that the operation declares (none), got viewer',
    };
    assert.throws(() => gateway.subscribe(secret, { viewer }), misplaced);
    await assert.rejects(gateway.query('{ now }', { viewer }), misplaced);
    assert.throws(
      () => gateway.subscribe('subscription ($id: ID) { bid(auction_id: $id) { amount } }', { ids: 7 }),
      { message: 'expected variables that the operation declares (id), got ids' },
    );
    const options: object = { viwer: viewer, as: 'ADMIN' };
    const unknown = {
      name: 'TypeError',
      message: 'expected options of an operation (viewer), got viwer, as',
    };
    assert.throws(() => gateway.subscribe(secret, {}, options), unknown);
    await assert.rejects(gateway.query('{ now }', {}, options), unknown);
    await assert.rejects(gateway.publish('bids', {}, options), {
      message: 'expected options of publish (key, headers, timestamp), got viwer, as',
    });
    await assert.rejects(gatewayFor(t, options), {
      message: 'expected options of testGateway (viewer, backends, settings, now), got viwer, as',
    });
  });

  it('answers calls of back ends by fakes, with the keys of the definition, a loader’s once for each event', async (t) => {
    const calls: string[] = [];
    const gateway = await gatewayFor(t, {
      backends: {
        users: ({ method, path }) => {
          calls.push(`${method} ${path}`);
          return { id: 7, fullName: 'Ann' };
        },
        plain: async ({ body }) => ({ ...(body as object), full_name: 'Bob' }),
      },
    });
    const query = 'subscription { bid { seller { full_name } viewer } }';
    const subscriptions = ['a', 'b'].map((id) => gateway.subscribe(query, {}, { viewer: { id } }));
    await gateway.publish('bids', { bidderId: '7' });
    const got = subscriptions.map(({ results }) => results);
    assert.deepEqual(
      got,
      ['a', 'b'].map((viewer) => [{ data: { bid: { seller: { full_name: 'Ann' }, viewer } } }]),
    );
    assert.deepEqual(calls, ['GET /users/7']);
    const { data } = await gateway.query('{ seller(id: "8") { id full_name } }');
    assert.deepEqual(data, { seller: { id: '8', full_name: 'Bob' } });
  });

  it('says which back end has no fake, and refuses a fake of none', async (t) => {
    const gateway = await gatewayFor(t);
    const error = await errorOf(gateway, 'subscription { bid { seller { id } } }');
    assert.match(error?.message ?? '', /expected a fake of the back end users for GET \/users\/7, got none/);
    await assert.rejects(gatewayFor(t, { backends: { user: () => null } }), /\(users, plain\), got user/);
  });

  it('fails a call as a back end does, if the fake throws an error with its code', async (t) => {
    const backends = { users: fails('BACKEND_NOT_FOUND'), plain: fails('OTHER') };
    const gateway = await gatewayFor(t, { backends });
    const error = await errorOf(gateway, 'subscription { bid { seller { id } } }');
    assert.deepEqual(error?.extensions, { code: 'BACKEND_NOT_FOUND', backend: 'users', status: 404 });
    const { errors } = await gateway.query('{ seller(id: "8") { id } }');
    assert.equal(errors?.[0]?.message, 'thrown');
  });

  it('executes queries and mutations, and shows the errors of resolvers word for word', async (t) => {
    const gateway = await gatewayFor(t, { viewer: { id: 'ann' } });
    const greeted = await gateway.query('mutation ($name: String!) { greet(name: $name) }', { name: 'Bob' });
    assert.deepEqual(greeted, { data: { greet: 'Hello Bob from ann' } });
    assert.equal((await errorOf(gateway, 'subscription { bid { fails } }'))?.message, 'word for word');
    await assert.rejects(gateway.query('subscription { bid { amount } }'), /expected a query or a mutation/);
    await assert.rejects(gateway.query('{ nope }'), /Cannot query field "nope"/);
  });

  it('decodes as the graph does, with the key, headers and timestamp of a message', async (t) => {
    const gateway = await gatewayFor(t, { now: 1_000 });
    const { results } = gateway.subscribe('subscription { raw { text key timestamp headers } }');
    await gateway.publish('raw', Buffer.from('a;b'), { key: 'k' });
    const headers = { type: 'bid', via: ['a', 'b'] };
    await gateway.publish('raw', Buffer.from(''), { headers, timestamp: 7 });
    assert.deepEqual(results, [
      { data: { raw: { text: 'a;b', key: 'k', timestamp: 1_000, headers: '{}' } } },
      { data: { raw: { text: '', key: null, timestamp: 7, headers: JSON.stringify(headers) } } },
    ]);
    await assert.rejects(gateway.publish('bids', Buffer.from('no json')), /expected JSON/);
    await assert.rejects(
      gateway.publish('bidz', {}),
      /expected one of the topics bids, raw, sales, statuses, got bidz/,
    );
  });

  it('has a time that goes on as it is told', async (t) => {
    const gateway = await gatewayFor(t, { now: 1_000 });
    const subscription = gateway.subscribe<{ bid: { now: number } }>('subscription { bid { now } }');
    await gateway.publish('bids', {});
    await gateway.advance(500);
    await gateway.publish('bids', {});
    const times = subscription.results.map(({ data }) => data?.bid.now);
    assert.deepEqual(times, [1_000, 1_500]);
    await assert.rejects(gateway.advance(-1), /expected a time of 0 ms or more, got -1/);
  });

  it('ends intervals of @delivery, one after the other, as time goes on', async (t) => {
    const gateway = await gatewayFor(t, { now: 0 });
    const subscription = gateway.subscribe<{ latest: object }>('subscription { latest { amount now } }');
    const amounts = (): unknown => subscription.results.map(({ data }) => data?.latest);
    for (const amount of [1, 2, 3]) await gateway.publish('bids', { auctionId: 7, amount });
    await gateway.advance(249);
    assert.deepEqual(amounts(), [{ amount: 1, now: 0 }]);
    await gateway.advance(1);
    assert.deepEqual(amounts(), [
      { amount: 1, now: 0 },
      { amount: 3, now: 0 },
    ]);
    await gateway.advance(1_000);
    await gateway.publish('bids', { auctionId: 7, amount: 4 });
    assert.equal(subscription.results.length, 3);
  });

  it('keeps history for as long as its time says', async (t) => {
    const gateway = await gatewayFor(t);
    const query = 'subscription ($id: ID!) { status(auction_id: $id) { amount } }';
    for (const id of [7, 8]) await gateway.publish('statuses', { auctionId: id, amount: id });
    await gateway.advance(59_999);
    const early = gateway.subscribe(query, { id: '7' });
    await gateway.advance(1);
    assert.deepEqual(early.results, [{ data: { status: { amount: 7 } } }]);
    const late = gateway.subscribe(query, { id: '8' });
    await gateway.advance(0);
    assert.deepEqual(late.results, []);
  });

  it('ends its subscriptions when it is closed', async (t) => {
    const gateway = await gatewayFor(t);
    const subscription = gateway.subscribe('subscription { bid { amount } }');
    const next = subscription.next();
    await gateway.close();
    assert.equal((await next).done, true);
  });
});
