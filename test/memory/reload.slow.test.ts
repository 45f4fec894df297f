import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { GraphQLSchema } from 'graphql';
import { loadConfig } from '../../src/config/config.ts';
import { Executor } from '../../src/executor/executor.ts';
import { Gateway } from '../../src/gateway/gateway.ts';
import { Group } from '../../src/hub/group.ts';
import { createLog } from '../../src/log.ts';
import { eventually } from '../helpers/eventually.ts';
import { GATEWAY_DEFAULTS } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { Living } from '../helpers/living.ts';

const RELOADS = 10;

const SCHEMA = `
  type Subscription {
    item: Item @event(topic: "items", history: { size: 10 })
    cheap: Item @event(topic: "items") @filter(where: { n: { lt: 1000000 } })
    latest: Item @event(topic: "items") @filter(where: { n: { lt: 1000000 } }) @delivery(throttleMs: 5)
  }
  type Item { n: Int! double: Int }`;

const CODE = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    loaders: () => ({}),
    resolvers: { Item: { double: async ({ n }) => 2 * n } },
  });`;

/** Notes each object on which this method of its class is called. (A mock of `node:test` would keep them all.) */
function follow<T extends object>(t: TestContext, prototype: T, method: keyof T): Living {
  const living = new Living();
  const seen = new WeakSet<object>();
  const original = prototype[method] as (...args: unknown[]) => unknown;
  const followed = function (this: object, ...args: unknown[]): unknown {
    if (!seen.has(this)) living.add(this);
    seen.add(this);
    return original.apply(this, args);
  };
  prototype[method] = followed as T[keyof T];
  t.after(() => (prototype[method] = original as T[keyof T]));
  return living;
}

test('nothing of a graph that was replaced stays in memory, though its subscriptions go on', async (t) => {
  const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, 'graph.js': CODE });
  const executors = follow(t, Executor.prototype, 'execute');
  const schemas = follow(t, GraphQLSchema.prototype, 'getSubscriptionType');
  const groups = follow(t, Group.prototype, 'dispatch');
  const gateway = await Gateway.create(
    loadConfig({ ...GATEWAY_DEFAULTS, GRAPH: folder, EXECUTE_TIMEOUT_MS: '1000' }),
    createLog('silent'),
  );
  const { port } = await gateway.start();
  t.after(() => gateway.stop());
  const client = graphqlClient(t, `ws://127.0.0.1:${port}/graphql`);
  const queries = ['item { n }', 'item { n double }', 'cheap { n double }'];
  const received = queries.map((query) => new Received(client, `subscription { ${query} }`));
  const latest = new Received<{ readonly latest: { readonly n: number } }>(
    client,
    'subscription { latest { n } }',
  );
  let sent = 0;
  /** Enough for the operations to be compiled. */
  const send = async (): Promise<void> => {
    for (let count = 0; count < 30; count += 1) {
      await fetch(`http://127.0.0.1:${port}/events/items`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ n: (sent += 1) }),
      });
    }
    for (const one of received) await one.until(sent);
    while (latest.data.at(-1)?.latest.n !== sent) await latest.until(latest.results.length + 1);
  };
  await eventually(async () => {
    const status = await gateway.status.registry.metrics();
    assert.match(status, /sluice_subscribers 4/);
  });
  await send();
  for (let times = 0; times < RELOADS; times += 1) {
    await gateway.reload();
    await send();
  }
  assert.match(await gateway.status.registry.metrics(), /graph_reloads_total\{outcome="done"\} 10/);
  // The last ones may be held until their back ends are closed.
  await eventually(async () => assert.equal(await executors.count(), 1));
  assert.equal(await groups.count(), queries.length + 1);
  // graphql-jit has a copy of its own of each.
  assert.ok((await schemas.count()) <= 2, `${await schemas.count()} schemas`);
});
