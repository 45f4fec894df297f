import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bid, check, testCases, type Case } from './cases.ts';

const history = (value: string): string => bid(`@event(topic: "bids", history: ${value})`);

const CASES: readonly Case[] = [
  [
    'a history without events',
    history('{ size: 0 }'),
    ['schema.graphql:3:44 error: history: expected a size from 1 to 10000, got 0'],
    'Leave size out',
  ],
  [
    'a history of too many events',
    history('{ size: 10001 }'),
    ['schema.graphql:3:44 error: history: expected a size from 1 to 10000, got 10001'],
    'Leave size out',
  ],
  [
    'a history that ends at once',
    history('{ ttl_seconds: 0 }'),
    ['schema.graphql:3:51 error: history: expected a ttl_seconds from 1 to 86400, got 0'],
    'Leave ttl_seconds out',
  ],
  [
    'a history of more than a day',
    history('{ ttl_seconds: 86401 }'),
    ['schema.graphql:3:51 error: history: expected a ttl_seconds from 1 to 86400, got 86401'],
    'Leave ttl_seconds out',
  ],
  [
    'both values of a history',
    history('{ size: -1, ttl_seconds: -1 }'),
    [
      'schema.graphql:3:44 error: history: expected a size from 1 to 10000, got -1',
      'schema.graphql:3:61 error: history: expected a ttl_seconds from 1 to 86400, got -1',
    ],
    'Leave size out',
  ],
  [
    'a size that is no whole number',
    history('{ size: 1.5 }'),
    ['schema.graphql:3:36 error: Argument "history" has invalid value {size: 1.5}.'],
    'history: EventHistory',
  ],
  [
    'a part of a history that there is not',
    history('{ ttl: 120 }'),
    ['schema.graphql:3:38 error: history: expected size or ttl_seconds, got ttl'],
    'size: Int! and ttl_seconds: Int!',
  ],
  [
    'a replay of nothing',
    bid('@event(topic: "bids", replay: 0)'),
    ['schema.graphql:3:35 error: expected replay from 1 to 10000, got 0'],
    'Leave it out to begin with the next event',
  ],
  [
    'a replay of too many events',
    bid('@event(topic: "bids", replay: 10001)'),
    ['schema.graphql:3:35 error: expected replay from 1 to 10000, got 10001'],
    'Leave it out to begin with the next event',
  ],
];

describe('the history of @event', () => {
  testCases(CASES);

  for (const value of ['{}', 'null', '{ size: 1, ttl_seconds: 1 }', '{ size: 10000, ttl_seconds: 86400 }']) {
    it(`may be ${value}`, async (t) => {
      const { lines } = await check(t, history(value));
      assert.deepEqual(lines, []);
    });
  }
});
