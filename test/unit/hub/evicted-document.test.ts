import assert from 'node:assert/strict';
import test from 'node:test';
import { newExecutor, prepared } from '../executor/small-executor.ts';
import { setUp } from './parts.ts';

test('subscribers of a document that is evicted between them are one group, and an event is executed for them once', async () => {
  const executor = newExecutor({ cacheSize: 1 });
  const { bus, join, value } = setUp({ binding: { key: undefined } });
  const joined = [1, 2, 3, 4].map((index) => {
    prepared(executor, `query Other${index} { event { id } }`);
    return join(prepared(executor, 'subscription { event { id } }'));
  });
  assert.equal(await value('groups'), 1);
  await bus.acknowledge('bids');
  bus.carry('bids', 1, { id: 1 });
  assert.equal(await value('executions'), 1);
  for (const { subscriber } of joined) assert.equal(subscriber.results.length, 1);
});
