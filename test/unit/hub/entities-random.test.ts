import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BackendBinder } from '../../../src/context/execution.ts';
import type { Backend } from '../../../src/graph/api/backend.ts';
import { Subgraph } from '../../helpers/subgraph.ts';
import { seeded } from '../executor/random-documents.ts';
import { graphJs } from '../graph/check/cases.ts';
import { asJson, authWorld } from './auth-world.ts';
import { settled } from './parts.ts';

const SEEDS = 40;
/** Enough for the operation to be compiled on the way. */
const EVENTS = 14;

const SCHEMA = `
  type Query { a: Int }
  type Subscription { order: Order @event(topic: "events") }
  type Order {
    id: ID product: Product @reference(fields: "product_id") owner: User @reference(fields: "owner_id") seen_by: String
  }
  type Product @key(fields: "upc") @entity(backend: "shared") { upc: ID name: String @fetched maker: User @fetched }
  type User @key(fields: "id") @entity(backend: "forwarded") { id: ID secret: String @fetched friend: User @fetched }
`;

const CODE = graphJs(`{
  backends: {
    shared: { url: 'http://shared.invalid' },
    forwarded: { url: 'http://forwarded.invalid', forward: ['token', 'org.id'] },
  },
  resolvers: { Order: { seen_by: (order, args, ctx) => String(ctx.viewer.role) } },
}`);

const SELECTIONS = [
  'id',
  'seen_by',
  'product { name }',
  'product { upc maker { id secret } }',
  'owner { secret }',
  'own: owner { s: secret friend { secret } }',
] as const;

interface Viewer {
  readonly token?: string;
  readonly role?: string;
  readonly org?: { readonly id: string };
}

/** What a viewer is shown of a user: the values that the back end gets. */
const secretOf = (id: string, { token, org }: Viewer): string => `${id} for ${token} of ${org?.id}`;

const SDL = `
  type Query { a: Int }
  type Product { upc: ID name: String maker: User }
  type User { id: ID secret: String friend: User }
`;

const shared = new Subgraph(
  SDL,
  { Product: { name: ({ upc }: { upc: string }) => `name ${upc}`, maker: () => ({ id: 'm' }) } },
  ['Product'],
  ({ upc }) => ({ upc }),
);

function forwarded(viewer: Viewer): Subgraph {
  const User = {
    secret: ({ id }: { id: string }) => secretOf(id, viewer),
    friend: ({ id }: { id: string }) => ({ id: `${id}'s` }),
  };
  return new Subgraph(SDL, { User }, ['User'], ({ id }) => ({ id }));
}

/** Back ends as the gateway binds them: what is forwarded is read of the viewer when a call is made. */
const backends: BackendBinder = {
  bind: ({ viewer }) => ({
    shared: postingTo(() => shared),
    forwarded: postingTo(() => {
      const { token, org } = viewer() as Viewer;
      return forwarded({ ...(token && { token }), ...(org && { org: { id: org.id } }) });
    }),
  }),
};

function postingTo(subgraph: () => Subgraph): Backend {
  const post = async (path: string, body: unknown): Promise<unknown> =>
    asJson(await subgraph().answer({ method: 'POST', path, body, options: {} }));
  return { post } as unknown as Backend;
}

function expectedOf(selection: (typeof SELECTIONS)[number], id: number, viewer: Viewer): object {
  const [upc, owner] = [`p${id % 3}`, `u${id % 2}`];
  switch (selection) {
    case 'id':
      return { id: String(id) };
    case 'seen_by':
      return { seen_by: String(viewer.role) };
    case 'product { name }':
      return { product: { name: `name ${upc}` } };
    case 'product { upc maker { id secret } }':
      return { product: { upc, maker: { id: 'm', secret: secretOf('m', viewer) } } };
    case 'owner { secret }':
      return { owner: { secret: secretOf(owner, viewer) } };
    default:
      return { own: { s: secretOf(owner, viewer), friend: { secret: secretOf(`${owner}'s`, viewer) } } };
  }
}

it('shows each of many viewers the entities that a back end gives for its own values, and no other', async (t) => {
  const world = await authWorld(t, SCHEMA, CODE, backends);
  let deliveries = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const choose = seeded(seed);
    const chosen = SELECTIONS.filter((text) => text !== 'product { name }' && choose(2) === 0);
    const selections = chosen.length === 0 ? (['product { name }'] as const) : chosen;
    const query = `subscription S${seed} { order { ${selections.join(' ')} } }`;
    const members = Array.from({ length: 12 }, () => {
      const viewer: Viewer = {
        ...(choose(5) > 0 && { token: `t${choose(3)}` }),
        ...(choose(3) > 0 && { role: `r${choose(2)}` }),
        ...(choose(3) > 0 && { org: { id: `o${choose(2)}` } }),
      };
      return { viewer, ...world.join(query, viewer as never) };
    });
    for (let id = 1; id <= EVENTS; id += 1) {
      world.send({ id, product_id: `p${id % 3}`, owner_id: `u${id % 2}` });
      if (choose(3) === 0) await settled();
    }
    for (const { viewer, subscriber, group } of members) {
      while (subscriber.results.length < EVENTS) await settled();
      const expected = Array.from({ length: EVENTS }, (_, index) => ({
        data: { order: Object.assign({}, ...selections.map((text) => expectedOf(text, index + 1, viewer))) },
      }));
      assert.deepEqual(asJson(subscriber.results), asJson(expected), `${query} ${JSON.stringify(viewer)}`);
      deliveries += expected.length;
      world.leave(group, subscriber);
    }
  }
  assert.equal(deliveries, SEEDS * 12 * EVENTS);
  assert.ok((await world.executions()) < deliveries, 'nothing was shared');
});
