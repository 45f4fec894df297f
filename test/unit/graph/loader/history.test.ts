import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import type { HistorySettings } from '../../../../src/events/history-settings.ts';
import { graphFolder } from '../graph-folder.ts';

/** What is kept of the topic of all these fields, which are given with the further arguments of their `@event`. */
async function historyOf(t: TestContext, ...fields: readonly string[]): Promise<HistorySettings | undefined> {
  const lines = fields.map((more, index) => `bid_${index}: Bid @event(topic: "bids" ${more})`);
  const schema = `type Subscription { ${lines.join('\n')} } type Bid { amount: Int }`;
  const { topics } = await loadGraph(await graphFolder(t, { 'schema.graphql': schema }));
  return topics.get('bids')?.history;
}

describe('the history of a topic', () => {
  it('is not kept unless a field asks for it', async (t) => {
    assert.equal(await historyOf(t, '', 'history: null'), undefined);
  });

  it('has defaults for what a field leaves out', async (t) => {
    assert.deepEqual(await historyOf(t, 'history: {}'), { size: 256, ttlMs: 120_000, keepsAll: false });
    assert.deepEqual(await historyOf(t, 'history: { size: 9 }'), {
      size: 9,
      ttlMs: 120_000,
      keepsAll: false,
    });
    assert.deepEqual(await historyOf(t, 'history: { ttl_seconds: 9 }'), {
      size: 256,
      ttlMs: 9_000,
      keepsAll: false,
    });
  });

  it('has the largest values of any of its fields, in any order of the fields', async (t) => {
    const fields = [
      'history: { size: 300, ttl_seconds: 5 }',
      '',
      'history: { size: 20, ttl_seconds: 600 }',
      'history: { size: 299, ttl_seconds: 599 }',
    ];
    assert.deepEqual(await historyOf(t, ...fields), { size: 300, ttlMs: 600_000, keepsAll: false });
    assert.deepEqual(await historyOf(t, ...fields.toReversed()), {
      size: 300,
      ttlMs: 600_000,
      keepsAll: false,
    });
  });

  it('is that of all channels, as long as a day, where a field replays events', async (t) => {
    const day = 86_400_000;
    assert.deepEqual(await historyOf(t, 'replay: 3'), { size: 3, ttlMs: day, keepsAll: true });
    const kept = { size: 9, ttlMs: 60_000, keepsAll: true };
    assert.deepEqual(await historyOf(t, 'replay: 9, history: { size: 3, ttl_seconds: 60 }'), kept);
    assert.deepEqual(await historyOf(t, 'replay: 1, history: { size: 9, ttl_seconds: 60 }'), kept);
    assert.deepEqual(await historyOf(t, 'history: {}', 'replay: 1'), {
      size: 256,
      ttlMs: day,
      keepsAll: true,
    });
  });

  it('is kept of its own topic only', async (t) => {
    const schema = `type Subscription {
        bid: Bid @event(topic: "bids", history: { size: 9 })
        other: Bid @event(topic: "others")
      }
      type Bid { amount: Int }`;
    const { topics } = await loadGraph(await graphFolder(t, { 'schema.graphql': schema }));
    const sizes = [...topics.values()].map(({ name, history }) => [name, history?.size]);
    assert.deepEqual(sizes, [
      ['bids', 9],
      ['others', undefined],
    ]);
  });
});
