import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';

const MINUTES_2 = 120_000;
const DAY = 86_400_000;

const MANY = [
  'history: { size: 300, ttl_seconds: 5 }',
  '',
  'history: { size: 20, ttl_seconds: 600 }',
  'history: { size: 299, ttl_seconds: 599 }',
];

/** Further arguments of the `@event` of each field of a topic; size, time and whether all is kept, undefined: nothing. */
const KEPT: readonly (readonly [
  what: string,
  fields: readonly string[],
  kept?: readonly [number, number, boolean],
])[] = [
  ['nothing is kept unless a field asks for it', ['', 'history: null']],
  ['a field may leave out both size and time', ['history: {}'], [256, MINUTES_2, false]],
  ['a field may leave out the time', ['history: { size: 9 }'], [9, MINUTES_2, false]],
  ['a field may leave out the size', ['history: { ttl_seconds: 9 }'], [256, 9_000, false]],
  ['the largest values of any field count', MANY, [300, 600_000, false]],
  ['the order of fields does not matter', MANY.toReversed(), [300, 600_000, false]],
  ['a replay keeps all channels for a day', ['replay: 3'], [3, DAY, true]],
  ['a replay may be of more', ['replay: 9, history: { size: 3, ttl_seconds: 60 }'], [9, 60_000, true]],
  ['a replay may be of less', ['replay: 1, history: { size: 9, ttl_seconds: 60 }'], [9, 60_000, true]],
  ['one field may replay what another one keeps', ['history: {}', 'replay: 1'], [256, DAY, true]],
];

describe('the history of a topic', () => {
  for (const [what, fields, kept] of KEPT) {
    it(`is such that ${what}`, async (t) => {
      const lines = fields.map((more, index) => `bid_${index}: Bid @event(topic: "bids" ${more})`);
      const schema = `type Subscription { ${lines.join('\n')} other: Bid @event(topic: "others") } type Bid { amount: Int }`;
      const { streams } = await loadGraph(await graphFolder(t, { 'schema.graphql': schema }));
      const [size, ttlMs, keepsAll] = kept ?? [];
      assert.deepEqual(streams.get('bids')?.history, kept && { size, ttlMs, keepsAll });
      assert.equal(streams.get('others')?.history, undefined);
    });
  }
});
