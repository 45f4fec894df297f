import { describe } from 'node:test';
import { bid, testDirectives } from './cases.ts';

describe('sluice check, of the history of @event,', () => {
  testDirectives(
    {
      'history: { size: ›0 }': 'history: expected a size from 1 to 10000, got 0 → Leave size out',
      'history: { size: ›10001 }': 'history: expected a size from 1 to 10000, got 10001 → Leave size out',
      'history: { ttl_seconds: ›0 }':
        'history: expected a ttl_seconds from 1 to 86400, got 0 → Leave ttl_seconds out',
      'history: { ttl_seconds: ›86401 }':
        'history: expected a ttl_seconds from 1 to 86400, got 86401 → Leave ttl_seconds out',
      'history: { size: ›-1, ttl_seconds: ›-1 }': [
        'history: expected a size from 1 to 10000, got -1',
        'history: expected a ttl_seconds from 1 to 86400, got -1',
      ],
      'history: ›{ size: 1.5 }': 'Argument "history" has invalid value {size: 1.5}. → history: EventHistory',
      'history: { ›ttl: 120 }':
        'history: expected size or ttl_seconds, got ttl → size: Int! and ttl_seconds: Int!',
      'replay: ›0': 'expected replay from 1 to 10000, got 0 → Leave it out to begin with the next event',
      'replay: ›10001':
        'expected replay from 1 to 10000, got 10001 → Leave it out to begin with the next event',
      'history: {}': [],
      'history: null': [],
      'history: { size: 1, ttl_seconds: 1 }': [],
      'history: { size: 10000, ttl_seconds: 86400 }': [],
    },
    (args) => bid(`@event(topic: "bids", ${args})`),
  );
});
