import assert from 'node:assert/strict';
import { buildSchema } from 'graphql';
import { describe, it } from 'node:test';
import { Graphiql } from '../../../src/server/graphiql/graphiql.ts';
import { OriginCheck } from '../../../src/server/origin-check.ts';
import { ownBytes } from '../../../src/support/byte-budget.ts';
import { publicRoutes, type PublicOptions } from '../../../src/server/public-routes.ts';
import { CLIENT } from '../transports/http/whole.ts';
import { ask, errorOf, serve } from './serve.ts';

const options: PublicOptions = {
  transport: { respond: async () => ({ status: 200, headers: {}, body: 'posted' }) },
  streamResponder: { respond: () => assert.fail('no subscription is asked for') },
  clients: { ownerOf: () => CLIENT.owner, addressOf: () => undefined },
  originCheck: new OriginCheck([]),
  maxPayloadBytes: 1_000,
  graphiql: undefined,
  events: undefined,
};
const html = { headers: { accept: 'text/html' } };

describe('the public port', () => {
  it('has GraphQL even if all other routes are switched off, and no routes of the admin port', async (t) => {
    const port = await serve(t, publicRoutes(options));
    assert.equal((await ask(port, '/graphql', { method: 'POST', body: '{}' })).body, 'posted');
    assert.equal((await ask(port, '/', html)).status, 404);
    for (const path of ['graphiql/react.js', 'events/bids', 'metrics', 'readyz', 'livez', 'debug/heap']) {
      assert.equal((await ask(port, `/${path}`)).status, 404, path);
    }
    const events = await ask(port, '/events/bids', { method: 'POST', body: '{}' });
    assert.equal(events.status, 404);
    assert.match(errorOf(events), /events come from Kafka or from other pods here$/);
    assert.ok(!errorOf(await ask(port, '/bids', { method: 'POST', body: '{}' })).includes('/events/'));
  });

  it('has GraphiQL and events where the settings switch them on', async (t) => {
    const graphiql = await Graphiql.load(buildSchema('type Query { a: Int }'));
    const shown = { topics: () => ['bids'], shows: (topic: string) => topic === 'bids' };
    const events = { ...shown, accept: async () => {}, bodies: ownBytes(1_000), fromAnywhere: false };
    const port = await serve(t, publicRoutes({ ...options, graphiql, events }));
    assert.equal((await ask(port, '/', html)).status, 200);
    const headers = { 'content-type': 'application/json' };
    assert.equal((await ask(port, '/events/bids', { method: 'POST', headers, body: '{}' })).status, 202);
  });
});
