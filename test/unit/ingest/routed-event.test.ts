import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DecodeError } from '../../../src/events/decode-error.ts';
import type { KafkaRecord } from '../../../src/ingest/record.ts';
import { RoutedEvent, type EncodeResult } from '../../../src/ingest/routed-event.ts';

const record: KafkaRecord = {
  topic: 'bids',
  partition: 0,
  offset: 1,
  timestamp: 0,
  key: null,
  value: null,
  headers: undefined,
};

const RESULTS: readonly (readonly [string, EncodeResult])[] = [
  ['an encoded event', { channels: ['bids'], payload: '{}' }],
  ['a fault', new DecodeError('too_deep', 'expected less')],
  ['nothing, for a record that is passed over', undefined],
];

for (const [what, result] of RESULTS) {
  for (const asynchronous of [false, true]) {
    test(`${what} is computed once${asynchronous ? ', later' : ''}`, async () => {
      let times = 0;
      const event = new RoutedEvent(record, ['bids'], () => {
        times += 1;
        return asynchronous ? Promise.resolve(result) : result;
      });
      assert.equal(event.isEncoded, false);
      const pending = event.encode();
      assert.equal(pending instanceof Promise, asynchronous);
      assert.equal(await pending, result);
      assert.equal(event.isEncoded, true);
      assert.equal(event.encode(), result);
      assert.equal(times, 1);
    });
  }
}
