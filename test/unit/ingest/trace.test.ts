import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IngestStep } from '../../../src/events/trace.ts';
import { FakeBatch, setUp } from './kafka/batch-parts.ts';
import { localSource, topic, topics } from './parts.ts';

/** Each step as `offset step what it tells`. */
const told = (steps: readonly IngestStep[]): string[] =>
  steps.map((step) => {
    const { offset } = step.record;
    switch (step.step) {
      case 'routed':
        return `${offset} routed ${JSON.stringify(step.event)} ${step.channels.join(' ')}`;
      case 'undecodable':
        return `${offset} undecodable ${step.error.reason}`;
      case 'passed_over':
        return `${offset} passed_over ${step.reason}`;
      default:
        return `${offset} ${step.step}`;
    }
  });

test('the way of a Kafka event is told: routed, and published or without a subscriber, or why it is no event', async () => {
  const { consume, publisher, steps } = setUp({
    keys: ['id'],
    decode: ({ value }) => (value.length === 0 ? null : JSON.parse(value.toString())),
  });
  publisher.wants = (channel) => channel === 'bids:id=1';
  await consume(['{"id":1,"a":2}', '{"id":2}', 'no', '', '{"a":3}']);
  assert.deepEqual(told(steps), [
    '0 routed {"id":1} bids bids:id=1',
    '1 routed {"id":2} bids bids:id=2',
    '3 passed_over by_decode',
    '4 routed {} bids',
    '2 undecodable decode_failed',
    '1 unsubscribed',
    '4 unsubscribed',
    '0 published',
  ]);
});

test('an event is told to be published once the bus has acknowledged it, and once though it took two attempts and has two channels', async () => {
  const { consume, publisher, steps } = setUp({ keys: ['id'] });
  publisher.failing = (batch) => (publisher.attempts === 1 ? batch : []);
  await consume(['{"id":1}']);
  assert.deepEqual(told(steps), ['0 routed {"id":1} bids bids:id=1', '0 published']);
});

test('an event that is routed by its Kafka key is told without what it holds', async () => {
  const { consume, publisher, steps } = setUp({ keys: ['id'], kafkaKey: 'id' });
  publisher.wants = () => false;
  await consume(new FakeBatch(['{"id":1}', '{"id":2}'], ['1', '2']));
  assert.deepEqual(told(steps).slice(0, 2), [
    '0 routed {"id":1} bids bids:id=1',
    '1 routed undefined bids bids:id=2',
  ]);
});

test('the way of an event that is published by hand is told likewise', async () => {
  const steps: IngestStep[] = [];
  const { source } = localSource({
    topics: topics(topic('bids', { keys: ['auction_id'] })),
    trace: { listener: (step) => void steps.push(step as IngestStep) },
  });
  await source.accept('bids', Buffer.from('{"auctionId":3}'));
  await assert.rejects(source.accept('bids', Buffer.from('[]')));
  await source.accept('sales', Buffer.from('{}'));
  assert.deepEqual(told(steps), [
    '0 routed {"auction_id":3} bids bids:auction_id=3',
    '0 published',
    '1 undecodable not_an_object',
    '0 passed_over no_field',
  ]);
});

test('an event that is published by hand goes to the channels that have subscribers, and is told to have none without', async () => {
  const steps: IngestStep[] = [];
  const { source, publisher, metrics } = localSource({
    topics: topics(topic('bids', { keys: ['auction_id'] })),
    trace: { listener: (step) => void steps.push(step as IngestStep) },
  });
  publisher.wants = (channel) => channel === 'bids:auction_id=4';
  await source.accept('bids', Buffer.from('{"auctionId":3}'));
  await source.accept('bids', Buffer.from('{"auctionId":4}'));
  assert.deepEqual(told(steps), [
    '0 routed {"auction_id":3} bids bids:auction_id=3',
    '0 unsubscribed',
    '1 routed {"auction_id":4} bids bids:auction_id=4',
    '1 published',
  ]);
  assert.deepEqual(
    publisher.published.map(({ channel }) => channel),
    ['bids:auction_id=4'],
  );
  assert.equal((await metrics.unsubscribedEvents.get()).values[0]?.value, 1);
});
