import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Json } from '../../../src/lazy/reads.ts';
import { graphJs } from '../graph/check/cases.ts';
import { asJson, authWorld } from './auth-world.ts';

const ADMIN = { id: 'ann', role: 'admin' };
const GUEST = { id: 'bob', role: 'guest' };
const NOBODY = {};

const forbidden = (path: (string | number)[], coordinate: string) => ({
  message: `The viewer may not use ${coordinate}.`,
  path,
  extensions: { code: 'FORBIDDEN' },
});

/** Errors have no order of their own: compiled code comes by fields in another one. */
const sorted = (result: unknown): unknown =>
  (result as { errors: { message: string }[] }).errors.map(({ message }) => message).toSorted();

const SUBSCRIPTION = (directives: string, args = '', rest = '') => `
  type Subscription { bid${args}: Bid @event(topic: "events") ${directives} }
  type Bid { id: ID amount: Int owner_id: ID owner_ids: [ID] seller: Seller } type Seller { id: ID } ${rest}`;

const BID = 'subscription { bid { id } }';

/** Whether viewers may subscribe, where the field has these directives and arguments. */
async function passing(t: TestContext, directives: string, args = '') {
  const { subscribe } = await authWorld(t, SUBSCRIPTION(directives, args));
  return (viewer: Json, query = BID, variables = {}): boolean =>
    subscribe(query, viewer, variables).errors === undefined;
}

describe('@auth on a subscription field', () => {
  it('refuses a viewer without the claim before any channel is joined, and names the field', async (t) => {
    const { bus, refused } = await authWorld(t, SUBSCRIPTION('@auth(requires: ["admin", "agent"])'));
    assert.deepEqual(asJson(refused('subscription { b: bid { id } }', GUEST)), [
      { message: 'The viewer may not use Subscription.bid.', extensions: { code: 'FORBIDDEN' } },
    ]);
    assert.deepEqual(asJson(refused(BID, NOBODY)), [
      {
        message: 'Subscription.bid needs a viewer who has authenticated.',
        extensions: { code: 'UNAUTHENTICATED' },
      },
    ]);
    assert.equal(bus.listeners.size, 0);
  });

  for (const [title, viewer, mayPass] of [
    ['the value itself', { role: 'admin' }, true],
    ['a list with the value', { role: ['guest', 'admin'] }, true],
    ['a longer text', { role: 'administrator' }, false],
    ['words in a text', { role: 'not admin' }, false],
    ['a list in a list', { role: [['admin']] }, false],
    ['an object', { role: { admin: true } }, false],
    ['null', { role: null }, false],
    ['another claim', { roles: ['admin'] }, false],
  ] as const) {
    it(`${mayPass ? 'passes' : 'refuses'} a viewer whose claim is ${title}`, async (t) => {
      const passes = await passing(t, '@auth(requires: "admin")');
      assert.equal(passes(viewer as unknown as Json), mayPass);
    });
  }

  it('reads the claim at a path, and the scope of OAuth as a list', async (t) => {
    const passes = await passing(t, '@auth(requires: "bids.read", claim: "token.scope")');
    assert.ok(passes({ token: { scope: 'openid bids.read' } }));
    assert.ok(passes({ token: { scope: ['bids.read'] } }));
    assert.ok(!passes({ token: { scope: 'bids.readwrite' } }));
    assert.ok(!passes({ 'token.scope': 'bids.read' }));
  });

  it('needs all of several directives, and one alternative of any', async (t) => {
    const any = 'any: [{ requires: "admin" }, { owner: { argument: "user" } }]';
    const mayPass = await passing(t, `@auth @auth(requires: "eu", claim: "region", ${any})`, '(user: ID)');
    const passes = (viewer: Json) => mayPass(viewer, 'subscription { bid(user: 7) { id } }');
    assert.ok(passes({ region: 'eu', role: 'admin' }));
    assert.ok(passes({ region: 'eu', id: 7 }));
    assert.ok(!passes({ role: 'admin', id: '7' }));
    assert.ok(!passes({ region: 'eu', id: '8' }));
  });

  it('compares an argument with the owner: each element of a list, and nothing proves nothing', async (t) => {
    const mayPass = await passing(
      t,
      '@auth(owner: { argument: "users" })',
      '(users: [ID], user: ID = "bob")',
    );
    const passes = (users: string, viewer: Json) => mayPass(viewer, `subscription { bid${users} { id } }`);
    for (const users of ['(users: ["bob"])', '(users: "bob")']) assert.ok(passes(users, GUEST), users);
    assert.ok(passes('(users: [7, "7"])', { id: 7 }));
    assert.ok(passes('(users: [1, 2])', { id: ['1', '2', '3'] }));
    for (const users of ['null', '[]', '[null]', '["bob", null]', '["bob", "ann"]', '[""]', '["bob", ""]']) {
      assert.ok(!passes(`(users: ${users})`, GUEST), users);
    }
    assert.ok(!passes('', GUEST));
    assert.ok(!passes('(users: [""])', { id: '' }));
    assert.ok(!passes('(users: ["null"])', { id: null }));
    assert.ok(!passes('(users: ["undefined"])', { name: 'x' }));
    // Both numbers are one in JavaScript.
    assert.ok(!passes('(users: ["9007199254740992"])', { id: 2 ** 53 }));
  });

  it('compares a variable with the owner, its default value included', async (t) => {
    const passes = await passing(t, '@auth(owner: { argument: "user" })', '(user: ID = "carl")');
    const query = 'subscription ($user: ID) { bid(user: $user) { id } }';
    assert.ok(passes(GUEST, query, { user: 'bob' }));
    assert.ok(passes({ id: 'carl' }, query));
    assert.ok(!passes(GUEST, query));
    assert.ok(!passes(GUEST, query, { user: null }));
  });

  it('delivers to owners only the events that are theirs, in one group', async (t) => {
    const { send, join, refused, executions } = await authWorld(
      t,
      SUBSCRIPTION('@auth(any: [{ requires: "admin" }, { owner: { field: "owner_id" } }])'),
    );
    const [admin, ann, bob] = [{ role: 'admin' }, { id: 'ann' }, { id: 'bob' }].map((viewer) =>
      join(BID, viewer),
    );
    assert.equal(new Set([admin?.group, ann?.group, bob?.group]).size, 1);
    refused(BID, { role: 'guest' });
    const events = [
      { id: 1, owner_id: 'ann' },
      { id: 2, owner_id: 'bob' },
      { id: 3 },
      { id: 4, owner_id: null },
      { id: 5, owner_id: '' },
      { id: 6, owner_id: { id: 'ann' } },
    ];
    for (const event of events) send(event);
    const ids = (one: typeof ann) =>
      one?.subscriber.results.map((result) => (result as { data: { bid: { id: string } } }).data.bid.id);
    assert.deepEqual(ids(ann), ['1']);
    assert.deepEqual(ids(bob), ['2']);
    assert.deepEqual(ids(admin), ['1', '2', '3', '4', '5', '6']);
    assert.equal(await executions(), events.length);
  });

  it('looks an owner up within the event and in a list, beside a filter', async (t) => {
    const { send, join } = await authWorld(
      t,
      SUBSCRIPTION(
        '@filter(where: { amount: { gte: 5 } }) @auth(any: [{ owner: { field: "seller.id" } }, { owner: { field: "owner_ids" } }])',
      ),
    );
    const { subscriber } = join(BID, { id: 7 });
    send({ id: 1, amount: 5, seller: { id: '7' } });
    send({ id: 2, amount: 4, seller: { id: '7' } });
    send({ id: 3, amount: 5, owner_ids: [6, 7] });
    send({ id: 4, amount: 5, owner_ids: [6, [7]], seller: null });
    assert.deepEqual(subscriber.results, [{ data: { bid: { id: '1' } } }, { data: { bid: { id: '3' } } }]);
  });

  it('executes for no subscriber an event that no viewer owns, with sharing: NEVER too', async (t) => {
    const { send, join, executions } = await authWorld(
      t,
      SUBSCRIPTION('@auth(owner: { field: "owner_id" })').replace('"events")', '"events", sharing: NEVER)'),
    );
    const { subscriber } = join(BID, GUEST);
    send({ id: 1, owner_id: 'ann' });
    assert.equal(await executions(), 0);
    send({ id: 2, owner_id: 'bob' });
    assert.deepEqual(subscriber.results, [{ data: { bid: { id: '2' } } }]);
  });

  it('tells whether a viewer may still hold a subscription', async (t) => {
    const { join } = await authWorld(
      t,
      SUBSCRIPTION('@auth(requires: "admin") @auth(owner: { argument: "user" })', '(user: ID)'),
    );
    const { group } = join('subscription ($user: ID) { bid(user: $user) { id } }', ADMIN, { user: 'ann' });
    assert.equal(group.plan.refusal?.({ id: 'ann', role: ['admin', 'other'] }), undefined);
    assert.equal(group.plan.refusal?.({ id: 'ann', role: 'guest' })?.extensions['code'], 'FORBIDDEN');
    assert.equal(group.plan.refusal?.({ id: 'bob', role: 'admin' })?.extensions['code'], 'FORBIDDEN');
  });
});

const NESTED = `
  type Subscription { bid: Bid @event(topic: "events") }
  type Query { secret(of: ID): String @auth(owner: { argument: "of" }) public: String node: Node any: Any }
  type Mutation { close: Boolean @auth(requires: "admin") }
  type Bid {
    id: ID
    owner_id: ID
    reserve: Int @auth(requires: "admin")
    note(of: ID): String @auth(any: [{ requires: "admin" }, { owner: { field: "owner_id" } }])
    seller: Seller
    sellers: [Seller!]
    node: Node
    any: Any
  }
  type Seller @auth(requires: "admin") { id: ID name: String }
  interface Node { id: ID @auth(requires: "admin") }
  type House implements Node { id: ID rooms: Int }
  type Boat implements Node { id: ID sails: Int }
  union Any = House | Seller`;

const CODE = graphJs(`{
  resolvers: {
    Bid: { seller: (bid) => { globalThis.ran?.push('seller'); return bid.seller; } },
    Query: {
      secret: () => { globalThis.ran?.push('secret'); return 's'; },
      node: () => ({ __typename: 'House', id: 1, rooms: 2 }),
      any: () => ({ __typename: 'Seller', id: 1, name: 'S' }),
    },
    Mutation: { close: () => { globalThis.ran?.push('close'); return true; } },
  },
  context: () => ({ viewer: { id: 'ann', role: 'admin' } }),
}`);

/** Resolvers of CODE that have run. */
const ran: string[] = [];
Object.assign(globalThis, { ran });

const EVENT = {
  id: 1,
  owner_id: 'bob',
  reserve: 10,
  note: 'n',
  seller: { id: 2, name: 'S' },
  sellers: [{ id: 3 }, { id: 4 }],
  node: { __typename: 'House', id: 5, rooms: 6 },
  any: { __typename: 'Seller', id: 7, name: 'T' },
};

describe('@auth on types and fields', () => {
  it('gives null and an error, at any alias, and does not run the resolver', async (t) => {
    const { send, join } = await authWorld(t, NESTED, CODE);
    const query = 'subscription { bid { a: reserve reserve id seller { name } sellers { __typename } } }';
    const { subscriber } = join(query, GUEST);
    ran.length = 0;
    send(EVENT);
    assert.deepEqual(subscriber.results, [
      {
        errors: [
          forbidden(['bid', 'a'], 'Bid.reserve'),
          forbidden(['bid', 'reserve'], 'Bid.reserve'),
          forbidden(['bid', 'seller'], 'Bid.seller'),
          forbidden(['bid', 'sellers'], 'Bid.sellers'),
        ],
        data: { bid: { a: null, reserve: null, id: '1', seller: null, sellers: null } },
      },
    ]);
    assert.deepEqual(ran, []);
  });

  it('gives no viewer what another may see, and viewers that the rules do not tell apart one result', async (t) => {
    const { send, join, executions } = await authWorld(t, NESTED, CODE);
    const query = 'subscription { bid { id reserve } }';
    const others = [
      { id: 'c', role: ['x', 'admin'] },
      { id: 'd', role: 'other' },
    ];
    const people = [ADMIN, GUEST, ...others, GUEST, NOBODY];
    const subscribers = people.map((viewer) => join(query, viewer).subscriber);
    for (let runs = 1; runs <= 30; runs++) {
      const before = await executions();
      send(EVENT);
      assert.equal((await executions()) - before, 3, 'admins, others, and those without a viewer');
      const latest = subscribers.map(({ results }) => results.at(-1) as { data: unknown; errors?: unknown });
      const reserves = [10, null, 10, null, null, null].map((reserve) => ({ bid: { id: '1', reserve } }));
      assert.deepEqual(
        latest.map(({ data }) => data),
        reserves,
      );
      assert.deepEqual(latest[1]?.errors, [forbidden(['bid', 'reserve'], 'Bid.reserve')]);
      assert.match(JSON.stringify(latest[5]?.errors), /UNAUTHENTICATED/);
    }
  });

  it('shares between all who are not the owner', async (t) => {
    const { send, join, executions } = await authWorld(t, NESTED, CODE);
    const query = 'subscription { bid { note } }';
    const subscribers = Array.from({ length: 50 }, (_, id) => join(query, { id }).subscriber);
    send({ ...EVENT, owner_id: 7 });
    assert.equal(await executions(), 2);
    const told = subscribers.filter(({ results }) => JSON.stringify(results).includes('"n"'));
    assert.deepEqual(
      told.map(({ viewer }) => viewer),
      [{ id: 7 }],
    );
  });

  it('goes on in compiled code after a refusal', async (t) => {
    const { send, join, executor } = await authWorld(t, NESTED, CODE);
    const { subscriber } = join(
      'subscription { bid { id reserve sellers { id } any { ... on Seller { name } } } }',
      GUEST,
    );
    for (let runs = 1; runs <= 40; runs++) send(EVENT);
    assert.deepEqual(executor.counts, { compiled: 1, refused: 0, fallback: 0 });
    for (const result of subscriber.results) assert.deepEqual(sorted(result), sorted(subscriber.results[0]));
  });

  it('guards queries and mutations by the viewer of the connection, not by the one that the graph puts into its context', async (t) => {
    const { query } = await authWorld(t, NESTED, CODE);
    const secret = '{ secret(of: "ann") public }';
    for (let runs = 1; runs <= 20; runs++) {
      ran.length = 0;
      assert.deepEqual(asJson(await query(secret, GUEST)), {
        errors: [forbidden(['secret'], 'Query.secret')],
        data: { secret: null, public: null },
      });
      assert.deepEqual(asJson(await query('mutation { close }', GUEST)), {
        errors: [forbidden(['close'], 'Mutation.close')],
        data: { close: null },
      });
      assert.deepEqual(ran, []);
      assert.deepEqual(asJson(await query(secret, ADMIN)), { data: { secret: 's', public: null } });
      assert.deepEqual(asJson(await query('mutation { close }', ADMIN)), { data: { close: true } });
    }
  });

  it('takes away the parent of a refused field that is never null', async (t) => {
    const { send, join, executor } = await authWorld(
      t,
      `type Subscription { bid: Bid @event(topic: "events") }
       type Bid { id: ID seller: Seller } type Seller { id: ID! @auth(requires: "admin") }`,
    );
    const [guest, admin] = [GUEST, ADMIN].map(
      (viewer) => join('subscription { bid { id seller { id } } }', viewer).subscriber,
    );
    for (let runs = 1; runs <= 40; runs++) {
      send({ id: 1, seller: { id: 2 } });
      assert.deepEqual(guest?.results.at(-1), {
        errors: [forbidden(['bid', 'seller', 'id'], 'Seller.id')],
        data: { bid: { id: '1', seller: null } },
      });
      assert.deepEqual(admin?.results.at(-1), { data: { bid: { id: '1', seller: { id: '2' } } } });
    }
    // Compiled code still runs for the admin: it is tried for the guest, too.
    assert.equal(executor.counts.fallback, 35);
  });

  it('leaves introspection alone', async (t) => {
    const { query } = await authWorld(t, NESTED, CODE);
    const result = await query('{ __typename __type(name: "Seller") { fields { name } } }', NOBODY);
    assert.deepEqual(asJson(result), {
      data: { __typename: 'Query', __type: { fields: [{ name: 'id' }, { name: 'name' }] } },
    });
  });
});
