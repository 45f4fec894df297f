import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildSchema } from 'graphql';
import { PendingQuery } from '../../../src/context/pending-query.ts';
import { Queries } from '../../../src/context/queries.ts';
import { attachResolvers } from '../../../src/graph/loader/attach-resolvers.ts';
import { Metrics } from '../../../src/metrics.ts';
import { FairLimiter } from '../../../src/support/fair-limiter.ts';
import { Turns, type TurnTaker } from '../../../src/support/turns.ts';
import { deferred } from '../../helpers/deferred.ts';
import { executorFor, prepared, RUNS } from '../executor/small-executor.ts';
import { contextsOf, settled } from '../hub/parts.ts';

const SDL = 'type Query { item: Item } type Mutation { item: Item } type Item { by: String }';

/** The microtasks of this turn of the event loop have run. */
const drained = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

const client = (): TurnTaker => ({ spentUntil: 0, hold() {}, resume() {}, overrun() {} });

/** Operations of clients that wait for one answer. Reading it takes some ms, and notes whose operation does. */
async function setUp(query: string, { ms, runs }: { readonly ms: number; readonly runs: number }) {
  let now = 0;
  const read: string[] = [];
  let answer = deferred();
  const by = (_parent: unknown, _args: unknown, { viewer }: { viewer: { name: string } }): string => {
    now += ms;
    read.push(viewer.name);
    return viewer.name;
  };
  const item = async (): Promise<object> => {
    await answer.promise;
    return {};
  };
  const schema = buildSchema(SDL);
  attachResolvers(schema, {
    Query: { item: item as never },
    Mutation: { item: item as never },
    Item: { by: by as never },
  });
  const executor = executorFor(schema);
  const limiter = new FairLimiter(1_000, () => 0);
  const bounds = { limiter, metrics: new Metrics(), timeoutMs: 60_000 };
  const queries = new Queries({ ...bounds, executor, contexts: contextsOf() });
  const turns = new Turns({ msPerSecond: 1_000, now: () => now });
  const operation = prepared(executor, query);
  const ask = (name: string, owner: TurnTaker): PendingQuery => {
    const asked = { operation, variables: {}, viewer: { name }, owner, turns: turns.of(owner) };
    const pending = queries.execute(asked);
    assert.ok(pending instanceof PendingQuery);
    return pending;
  };
  answer.resolve();
  for (let run = 0; run < runs; run += 1) await ask('before', client()).result();
  await settled();
  read.length = 0;
  now += 10_000;
  answer = deferred();
  return { answer, ask, limiter, read, counts: executor.counts };
}

for (const [kind, query, runs] of [
  ['queries that are interpreted', '{ item { by } }', 0],
  ['compiled queries', '{ item { by } }', RUNS],
  ['mutations', 'mutation { item { by } }', 0],
] as const) {
  describe(`${kind}, and wait for the same`, () => {
    it('go on in turns of their clients, as far as a turn of the event loop has room', async () => {
      const { answer, ask, read, counts } = await setUp(query, { ms: 3, runs });
      assert.equal(counts.compiled, runs > 0 ? 1 : 0);
      const [ann, bob] = [client(), client()];
      for (let n = 0; n < 6; n += 1) ask('ann', ann);
      const last = ask('bob', bob).result();
      answer.resolve();
      await drained();
      assert.deepEqual(read, ['ann', 'ann']);
      assert.equal(JSON.stringify((await last)?.data), '{"item":{"by":"bob"}}');
      assert.deepEqual(read.slice(0, 4), ['ann', 'ann', 'ann', 'bob']);
    });

    it('have few results sent in a turn of the event loop', async () => {
      const { answer, ask } = await setUp(query, { ms: 0, runs });
      const ann = client();
      let sent = 0;
      const all = Array.from({ length: 10 }, () => ask('ann', ann).result());
      for (const result of all) void result.then(() => (sent += 1));
      answer.resolve();
      await drained();
      assert.equal(sent, 4);
      await Promise.all(all);
    });

    it('do not go on once their client has left, and give their places back', async () => {
      const { answer, ask, limiter, read } = await setUp(query, { ms: 6, runs });
      const ann = client();
      const asked = Array.from({ length: 10 }, () => ask('ann', ann));
      answer.resolve();
      await drained();
      for (const pending of asked) pending.cancel();
      await settled();
      assert.deepEqual([read, limiter.running], [['ann'], 0]);
    });
  });
}
