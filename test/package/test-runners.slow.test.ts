import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Page } from '../docs/markdown.ts';
import { PATIENCE_MS } from '../helpers/eventually.ts';
import { InstalledPackage } from '../helpers/package/installed.ts';
import { NPM } from '../helpers/package/managers.ts';
import { fileScope } from '../helpers/scope.ts';

const GRAPH = {
  'graph/schema.graphql': `
    type Subscription {
      order_changed(order_id: ID!): Order @event(topic: "orders", key: "order_id")
    }
    type Query { loads: Int }
    type Order { order_id: ID total: Float gross: Float customer: Customer viewer: String }
    type Customer { full_name: String }
  `,
  'graph/graph.ts': `
    import { defineGraph, BackendError } from 'sluice';
    import { GraphQLError } from 'graphql';
    import { gross } from './tax.ts';

    interface Order { readonly customer_id: string; readonly total: number }

    let loads = 0;

    export default defineGraph({
      backends: { customers: { url: 'http://customers.invalid' } },
      resolvers: {
        Query: { loads: () => (loads += 1) },
        Order: {
          customer: async ({ customer_id: id }: Order, _: unknown, ctx) => {
            try {
              return await ctx.backends.customers.get('/' + id);
            } catch (error) {
              if (error instanceof BackendError && error.code === 'BACKEND_NOT_FOUND') return null;
              throw error;
            }
          },
          gross: ({ total }: Order): number => {
            if (total < 0) throw new GraphQLError('no total', { extensions: { code: 'NO_TOTAL' } });
            return gross(total);
          },
          viewer: (_: unknown, args: unknown, ctx) => ctx.viewer.id,
        },
      },
    });
  `,
  'graph/tax.ts': 'export const gross = (net: number): number => net * 1.19;',
};

/** What differs between contexts: classes, and prototypes of plain objects. Each runner has its own way to import. */
const CONTEXTS = `
  const fakes = {
    customers: (call) => {
      assert.deepEqual(call, { method: 'GET', path: call.path, body: undefined, options: {} });
      if (call.path === '/gone') throw Object.assign(new Error('gone'), { code: 'BACKEND_NOT_FOUND' });
      if (call.path === '/down') throw new TypeError('is down');
      return { fullName: 'Bob' };
    },
  };
  const subscription = \`subscription ($id: ID!) {
    order_changed(order_id: $id) { gross viewer customer { full_name } }
  }\`;

  test('results, refusals and errors are as everywhere', async () => {
    const gateway = await testGateway('graph', { viewer: { id: 'ann' }, backends: fakes });
    const orders = gateway.subscribe(subscription, { id: '7' });
    for (const [customerId, total] of [['bob', 1], ['gone', 1], ['down', 1], ['bob', -1]]) {
      await gateway.publish('orders', { orderId: 7, total, customerId });
    }
    await gateway.publish('orders', new TextEncoder().encode('{"orderId":"7","total":2,"customerId":"bob"}'));
    const [bob, gone, down, negative, bytes] = orders.results;
    const order = { gross: 1.19, viewer: 'ann', customer: { full_name: 'Bob' } };
    assert.deepEqual([bob, gone], [order, { ...order, customer: null }].map((one) => ({ data: { order_changed: one } })));
    assert.equal(down.errors[0].message, 'is down');
    assert.deepEqual(negative.errors[0].extensions, { code: 'NO_TOTAL' });
    assert.equal(bytes.data.order_changed.gross, 2.38);
    assert.throws(() => gateway.subscribe('subscription { nope }'), { name: 'OperationRefused' });
    await assert.rejects(gateway.publish('order', {}), /expected one of the topics orders, got order/);
    await gateway.close();
    assert.deepEqual(await orders.next().then(({ done }) => done), false);
  });

  test('a graph that is loaded twice keeps its modules', async () => {
    for (const loads of [1, 2]) {
      const gateway = await testGateway('graph');
      assert.deepEqual(await gateway.query('{ loads }'), { data: { loads } });
      await gateway.close();
    }
  });
`;

const importing = (runner: string) => `
  import assert from 'node:assert/strict';
  ${runner}
  import { testGateway } from 'sluice/testing';
  ${CONTEXTS}
`;

/** Five seconds a test, Jest's default, are too few for a busy machine. */
const PATIENT = `--testTimeout=${PATIENCE_MS}`;

const file = fileScope();

describe('sluice/testing', () => {
  let installed: InstalledPackage;
  let documented: Map<string, string>;

  before(async () => {
    installed = await InstalledPackage.with(file, NPM, ['vitest', 'jest']);
    await installed.write(GRAPH);
    const { blocks } = await Page.read('docs/guides/testing-in-process.md');
    const tests = blocks.filter(({ text }) => text.includes("'sluice/testing'"));
    documented = new Map(tests.map(({ text }) => [/node:test|vitest|require/.exec(text)?.[0] ?? '', text]));
  });

  const written = async (files: Readonly<Record<string, string | undefined>>): Promise<void> => {
    const texts = Object.entries(files).map(([name, text]) => {
      assert.ok(text !== undefined, `the page has a test for ${name}`);
      return [name, text] as const;
    });
    await installed.write(Object.fromEntries(texts));
  };

  it('runs under node --test', async () => {
    const files = {
      'node/page.test.mjs': documented.get('node:test'),
      'node/contexts.test.mjs': importing(`import { test } from 'node:test';`),
    };
    await written(files);
    const { stdout } = await installed.exec([process.execPath, '--test', ...Object.keys(files)]);
    assert.match(stdout, /^ℹ pass 3$|^# pass 3$/m);
  });

  for (const options of [
    [],
    ['--pool=vmThreads'],
    ['--pool=threads', '--no-isolate', '--no-file-parallelism'],
  ]) {
    it(`runs under Vitest, in TypeScript, ${options.join(' ') || 'as it is installed'}`, async () => {
      await written({
        'vitest/page.test.ts': documented.get('vitest'),
        'vitest/contexts.test.js': importing(`import { test } from 'vitest';`),
      });
      const command = ['npx', '--no', 'vitest', 'run', '--dir', 'vitest', '--reporter=json', ...options];
      assert.equal(passed((await installed.exec(command)).stdout), 3);
    });
  }

  it('runs under Jest as it is installed, and loads the graph anew for each test file of a process', async () => {
    const required = `
      const assert = require('node:assert/strict');
      const { testGateway } = require('sluice/testing');
      ${CONTEXTS}
    `;
    await written({
      'jest/page.test.js': documented.get('require'),
      'jest/contexts.test.js': required,
      'jest/again.test.js': required,
    });
    const { stdout } = await installed.exec([
      'npx',
      '--no',
      'jest',
      'jest/',
      '--runInBand',
      '--json',
      PATIENT,
    ]);
    assert.equal(passed(stdout), 5);
  });

  it('runs under Jest with ES modules, as Jest has these', async () => {
    await written({ 'jest-esm/contexts.test.mjs': importing('') });
    const jest = ['node_modules/jest/bin/jest.js', '--json', PATIENT, '--testMatch', '**/jest-esm/*.mjs'];
    const { stdout } = await installed.exec([process.execPath, '--experimental-vm-modules', ...jest]);
    assert.equal(passed(stdout), 2);
  });
});

/** Returns how many tests have passed by a report of Jest, or of Vitest, which has the same form. */
function passed(report: string): number {
  const { numPassedTests, numTotalTests } = JSON.parse(report) as Record<string, number>;
  assert.equal(numPassedTests, numTotalTests);
  return numTotalTests ?? 0;
}
