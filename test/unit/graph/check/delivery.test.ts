import { describe } from 'node:test';
import { bid, testDirectives } from './cases.ts';

describe('sluice check, of @delivery,', () => {
  testDirectives(
    {
      'throttleMs: ›0':
        'expected throttleMs from 1 to 600000, got 0 → Leave it out to deliver each event at once',
      'throttleMs: ›600001':
        'expected throttleMs from 1 to 600000, got 600001 → Leave it out to deliver each event at once',
      'throttleMs: ›"5"': 'Argument "throttleMs" has invalid value "5". → @delivery takes',
      'conflateBy: ››"seller_id"': [
        'conflateBy has no effect: expected throttleMs or onSlow: CONFLATE beside it → throttleMs: 250',
        'conflateBy "seller_id" is no field of Bid',
      ],
      'onSlow: ›CONFLATE':
        'onSlow: CONFLATE without a key: expected conflateBy beside it → Name the event field',
      'onSlow: ›WAIT': 'onSlow: expected DISCONNECT or DROP_OLDEST or CONFLATE, got WAIT → for its default',
      'onSlow: ›"CONFLATE"':
        'onSlow: expected DISCONNECT or DROP_OLDEST or CONFLATE, got "CONFLATE" → Write onSlow: CONFLATE, without quotes.',
      'throttleMs: 5, conflateBy: ›"seller_id"':
        'conflateBy "seller_id" is no field of Bid → Fields of Bid: auction_id, amount, note',
      'throttleMs: 5, conflateBy: ››"auctionId"': [
        'no event can have the field "auctionId": keys of events become snake_case before they get here → Write auction_id, or @event(keys: KEEP)',
        'conflateBy "auctionId" is no field of Bid',
      ],
      'throttleMs: 5, conflateBy: ›"seller.key"':
        'conflateBy "seller.key": Seller has no field "key" → Fields of Seller: id and name',
      'throttleMs: 5, conflateBy: ›"sellers.id"':
        'conflateBy "sellers.id": "id" stands below a field of type [Seller] → not into lists',
      'throttleMs: 5, conflateBy: ›"amount.id"':
        'conflateBy "amount.id": "id" stands below a field of type Int → leads through objects',
      'throttleMs: 5, conflateBy: ››"seller.theId"': [
        'no event can have the field "seller.theId": keys of events become snake_case before they get here → Write seller.the_id, or @event(keys: KEEP)',
        'conflateBy "seller.theId": Seller has no field "theId"',
      ],
      'throttleMs: 5, conflateBy: ›"seller"':
        'conflateBy "seller" is a field of type Seller, expected a scalar or an enum → Conflate by an ID',
      'throttleMs: 5, conflateBy: ›"tags"':
        'conflateBy "tags" is a field of type [String], expected a scalar or an enum → Conflate by an ID',
      'onSlow: DISCONNECT': [],
      'onSlow: DROP_OLDEST': [],
      'onSlow: CONFLATE, conflateBy: "auction_id"': [],
      'onSlow: CONFLATE, conflateBy: "seller.id"': [],
      'throttleMs: 250': [],
      'throttleMs: 600000, conflateBy: "auction_id"': [],
    },
    (args) => bid(`@delivery(${args}) @event(topic: "bids")`),
  );
});
