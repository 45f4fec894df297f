import assert from 'node:assert/strict';
import test from 'node:test';
import { range } from '../helpers/numbers.ts';
import { asking, sharedGraph } from './graph-gateway.ts';

const SCHEMA = `
  type Subscription {
    bid: Bid @event(topic: "bids")
    alone: Bid @event(topic: "bids", sharing: NEVER)
  }
  type Bid { n: Int, bidder_id: ID, is_mine: Boolean, role: String }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    authenticate: ({ id, role, broken }, request) => {
      if (role === 'banned') return null;
      if (broken) return new Date();
      return { id, role, via: request.headers['user-agent'] ?? 'ws' };
    },
    resolvers: {
      Bid: {
        is_mine: (bid, _args, ctx) => bid.bidder_id === ctx.viewer.id,
        role: (_bid, _args, ctx) => ctx.viewer.role,
      },
    },
  });
`;

const gatewayOf = sharedGraph({ 'schema.graphql': SCHEMA, 'graph.ts': GRAPH });

test('each viewer gets its own data, and viewers with equal results share one execution', async (t) => {
  const gateway = await gatewayOf();
  const roles = ['a', 'b', 'c'];
  const subscribers = range(0, 12).map((id) =>
    asking(t, gateway, 'subscription { bid { role } }', { id: String(id), role: roles[id % 3] }),
  );
  const mine = asking(t, gateway, 'subscription { bid { is_mine } }', { id: '5' });
  await gateway.untilMetric('sluice_subscribers', 13);
  await gateway.postEvent('bids', { n: 1, bidderId: '5' });
  for (const [id, received] of subscribers.entries())
    assert.deepEqual((await received.until(1)).data, [{ bid: { role: roles[id % 3] } }]);
  assert.deepEqual((await mine.until(1)).data, [{ bid: { is_mine: true } }]);
  assert.equal(await gateway.metric('sluice_executions_total'), 4);
  assert.equal(await gateway.metric('sluice_unshared_executions_total'), 2);
});

test('sharing: NEVER executes for each', async (t) => {
  const gateway = await gatewayOf();
  const subscribers = ['1', '2', '3'].map((id) => asking(t, gateway, 'subscription { alone { n } }', { id }));
  await gateway.untilMetric('sluice_subscribers', 3);
  await gateway.postEvent('bids', { n: 1 });
  await Promise.all(subscribers.map((received) => received.until(1)));
  assert.equal(await gateway.metric('sluice_executions_total'), 3);
});

test('a client that authenticate refuses, or for which it returns no plain JSON, is closed with 4403', async (t) => {
  const gateway = await gatewayOf();
  for (const params of [{ role: 'banned' }, { broken: true }]) {
    const end = await asking(t, gateway, 'subscription { bid { n } }', params).untilEnd();
    assert.equal((end as { code?: number }).code, 4403);
  }
  assert.equal(await gateway.metric('sluice_subscribers'), 0);
});
