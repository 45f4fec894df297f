import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { channelsOf } from '../../../src/graph/channel.ts';
import type { Binding } from '../../../src/graph/graph.ts';

const binding: Binding = { field: 'bid_placed', topic: 'bids', key: 'auction_id', filter: undefined };

const channels = (args: Record<string, unknown>, max = 100) => channelsOf(binding, args, 'sluice:', max);

describe('the channels of a subscription', () => {
  it('are one for a value, which is percent-encoded', () => {
    assert.deepEqual(channels({ auction_id: 'a:1/é' }), ['sluice:bids:auction_id=a%3A1%2F%C3%A9']);
  });

  it('are the whole topic where the key is absent or null, or the binding has none', () => {
    assert.deepEqual(channels({}), ['sluice:bids']);
    assert.deepEqual(channels({ auction_id: null }), ['sluice:bids']);
    assert.deepEqual(channelsOf({ ...binding, key: undefined }, { auction_id: '1' }, '', 100), ['bids']);
  });

  it('are one for each distinct element of a list, by its text', () => {
    assert.deepEqual(channels({ auction_id: ['1', '2', 1, '2'] }), [
      'sluice:bids:auction_id=1',
      'sluice:bids:auction_id=2',
    ]);
  });

  it('can not be none: an empty list is refused', () => {
    assert.throws(() => channels({ auction_id: [] }), /expected at least one auction_id, got an empty list/);
  });

  it('have no place for null in a list', () => {
    assert.throws(() => channels({ auction_id: ['1', null] }), /got one with null in it/);
  });

  it('are bounded, counted without duplicates', () => {
    assert.equal(channels({ auction_id: ['1', '2', '2'] }, 2).length, 2);
    assert.throws(() => channels({ auction_id: ['1', '2', '3'] }, 2), /at most 2 distinct auction_id, got 3/);
  });
});
