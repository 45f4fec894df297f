import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyRouting } from '../../../src/ingest/key-routing.ts';
import { Metrics } from '../../../src/metrics.ts';
import { readableLog, topic } from './parts.ts';

test('of every topic the first message and then one in a hundred is parsed, counted separately from other topics', () => {
  const keys = new KeyRouting({ prefix: '', metrics: new Metrics(), log: readableLog().log });
  const topics = ['a', 'b'].map((name) => topic(name, { keys: ['id'], kafkaKey: 'id' }));
  const lookedAt: string[] = [];
  for (let offset = 0; offset < 250; offset += 1) {
    for (const one of topics) {
      if (keys.channels('1', one) === undefined) lookedAt.push(`${one.name} ${offset}`);
    }
  }
  assert.deepEqual(lookedAt, ['a 0', 'b 0', 'a 100', 'b 100', 'a 200', 'b 200']);
});
