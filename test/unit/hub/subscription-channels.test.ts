import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { channelsOf } from '../../../src/hub/subscription-plan.ts';
import type { Binding } from '../../../src/graph/graph.ts';
import { binding as common } from './parts.ts';

const binding: Binding = { ...common, field: 'bid_placed', key: 'auction_id' };

const channels = (args: Record<string, unknown>, max = 100) => channelsOf(binding, args, 'sluice:', max);

describe('the channels of a subscription', () => {
  it('are one for a value, percent-encoded', () => {
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

  it('of a nested key have its whole path, and are picked by the argument that it names', () => {
    const nested: Binding = { ...binding, key: 'seller.house.id', argument: 'house_id' };
    assert.deepEqual(channelsOf(nested, { house_id: 'a.b', id: '1' }, '', 100), ['bids:seller.house.id=a.b']);
    assert.throws(() => channelsOf(nested, { house_id: [null] }, '', 100), /expected house_id to be/);
  });

  it('are at least one: an empty list is refused', () => {
    const message = 'bid_placed: expected auction_id to be at least one value, got an empty list';
    const none = { auction_id: [] };
    assert.throws(() => channels(none), { message: `${message}; leave it out for all.` });
    const required = { ...binding, keyRequired: true };
    assert.throws(() => channelsOf(required, none, '', 100), { message: `${message}.` });
  });

  it('exclude null in a list, which is refused', () => {
    assert.throws(() => channels({ auction_id: ['1', null] }), /got one with null in it/);
  });

  it('are named by the values as events hold them, which coercion may have changed', () => {
    const days: Binding = { ...binding, keyForm: (value) => (value as Date).toISOString().slice(0, 10) };
    const args = { auction_id: new Date('2026-11-21T10:00:00Z') };
    assert.deepEqual(channelsOf(days, args, '', 100), ['bids:auction_id=2026-11-21']);
    assert.throws(
      () => channelsOf(binding, args, '', 100),
      /expected auction_id to be text, a number or a boolean/,
    );
  });

  it('are bounded, counted without duplicates', () => {
    assert.equal(channels({ auction_id: ['1', '2', '2'] }, 2).length, 2);
    assert.throws(() => channels({ auction_id: ['1', '2', '3'] }, 2), {
      message: 'bid_placed: expected auction_id to be at most 2 distinct values (MAX_CHANNELS), got 3.',
      extensions: { code: 'TOO_MANY_CHANNELS' },
    });
  });
});
