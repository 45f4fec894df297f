import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bid, check, testCases, type Case } from './cases.ts';

const EVENT = '@event(topic: "bids")';
const delivery = (args: string): string => bid(`@delivery(${args}) ${EVENT}`);

const CASES: readonly Case[] = [
  [
    'an interval of no time',
    delivery('throttleMs: 0'),
    ['schema.graphql:3:27 error: expected throttleMs from 1 to 600000, got 0'],
    'Leave it out to deliver each event at once',
  ],
  [
    'an interval of more than ten minutes',
    delivery('throttleMs: 600001'),
    ['schema.graphql:3:27 error: expected throttleMs from 1 to 600000, got 600001'],
    'Leave it out to deliver each event at once',
  ],
  [
    'a key of nothing that is left out',
    delivery('conflateBy: "seller_id"'),
    [
      'schema.graphql:3:27 error: conflateBy has no effect: expected throttleMs or onSlow: CONFLATE beside it',
      'schema.graphql:3:27 error: conflateBy "seller_id" is no field of Bid',
    ],
    'throttleMs: 250',
  ],
  [
    'to conflate without a key',
    delivery('onSlow: CONFLATE'),
    ['schema.graphql:3:23 error: onSlow: CONFLATE without a key: expected conflateBy beside it'],
    'Name the event field',
  ],
  [
    'a policy that there is not',
    delivery('onSlow: WAIT'),
    ['schema.graphql:3:23 error: Argument "onSlow" has invalid value WAIT.'],
    'onSlow: SlowPolicy',
  ],
  [
    'a key that events do not have',
    delivery('throttleMs: 5, conflateBy: "seller_id"'),
    ['schema.graphql:3:42 error: conflateBy "seller_id" is no field of Bid'],
    'Fields of Bid: auction_id, amount, note',
  ],
  [
    'a key that snake_case can not make',
    delivery('throttleMs: 5, conflateBy: "auctionId"'),
    [
      'schema.graphql:3:42 error: no event can have the field "auctionId": keys of events become snake_case before they get here',
      'schema.graphql:3:42 error: conflateBy "auctionId" is no field of Bid',
    ],
    'Write auction_id, or @event(keys: KEEP)',
  ],
  [
    'a key further inside of events',
    delivery('throttleMs: 5, conflateBy: "seller.id"'),
    ['schema.graphql:3:42 error: conflateBy "seller.id" is no field of Bid'],
    'Fields of Bid: auction_id, amount, note',
  ],
  [
    'a key that is an object',
    delivery('throttleMs: 5, conflateBy: "seller"'),
    [
      'schema.graphql:3:42 error: conflateBy "seller" is a field of type Seller, expected a scalar or an enum',
    ],
    'Conflate by an ID',
  ],
  [
    'a key that is a list',
    delivery('throttleMs: 5, conflateBy: "tags"'),
    [
      'schema.graphql:3:42 error: conflateBy "tags" is a field of type [String], expected a scalar or an enum',
    ],
    'Conflate by an ID',
  ],
  [
    'an interval that is no number',
    delivery('throttleMs: "5"'),
    ['schema.graphql:3:27 error: Argument "throttleMs" has invalid value "5".'],
    '@delivery takes',
  ],
];

describe('sluice check, of @delivery', () => {
  testCases(CASES);

  it('takes each policy for slow sockets', async (t) => {
    assert.deepEqual((await check(t, delivery('onSlow: DISCONNECT'))).lines, []);
    assert.deepEqual((await check(t, delivery('onSlow: DROP_OLDEST'))).lines, []);
    assert.deepEqual((await check(t, delivery('onSlow: CONFLATE, conflateBy: "auction_id"'))).lines, []);
  });

  it('takes an interval with or without a key', async (t) => {
    assert.deepEqual((await check(t, delivery('throttleMs: 250'))).lines, []);
    assert.deepEqual((await check(t, delivery('throttleMs: 600000, conflateBy: "auction_id"'))).lines, []);
  });
});
