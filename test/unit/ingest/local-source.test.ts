import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMessage } from '../../../src/events/message.ts';
import { MAX_MATCHED } from '../../../src/graph/topics.ts';
import { range } from '../../helpers/numbers.ts';
import type { Topic } from '../../../src/graph/graph.ts';
import { localSource, topic, topics } from './parts.ts';

const setUp = () =>
  localSource({
    topics: topics(topic('bids', { keys: ['auction_id'] }), topic('sales')),
    prefix: 'p:',
    now: () => 42,
  });

test('a local event is published like a Kafka message, with offsets that count up per topic', async () => {
  const { source, publisher, metrics } = setUp();
  await source.accept('bids', Buffer.from('{"auctionId":3}'), 'k');
  await source.accept('sales', Buffer.from('{}'));
  await source.accept('bids', Buffer.from('{}'));
  const seen = publisher.published.map(({ channel, payload }) => {
    const message = decodeMessage(payload);
    return [channel, message?.p, message?.o, message?.ts, message?.key];
  });
  assert.deepEqual(seen, [
    ['p:bids', 0, 0, 42, 'k'],
    ['p:bids:auction_id=3', 0, 0, 42, 'k'],
    ['p:sales', 0, 0, 42, null],
    ['p:bids', 0, 1, 42, null],
  ]);
  assert.equal((await metrics.events.get()).values.length, 2);
});

test('an event of a topic that matches a pattern goes to each of its streams, and topics can not be made up without end', async () => {
  const pattern = topic('/^b/', { pattern: /^b/, streams: [{ name: '~^b' }] });
  const { source, publisher } = localSource({ topics: topics(topic('bids'), pattern) });
  const send = (name: string) => source.accept(name, Buffer.from('{}'));
  await send('bids');
  await send('bets');
  const published = publisher.published.map(({ channel, payload }) => [channel, decodeMessage(payload)?.m]);
  assert.deepEqual(published, [
    ['bids', undefined],
    ['~^b', 1],
    ['~^b', 1],
  ]);
  for (const n of range(0, MAX_MATCHED - 2)) await send(`b${n}`);
  const refusal = { code: 'UNDECODABLE', message: /expected at most 1000 topics, got another one .*: bad/ };
  await assert.rejects(send('bad'), refusal);
  for (const name of ['bids', 'bets', 'b0']) await send(name);
});

test('offsets begin anew with each process, so each has topic ids of its own', async () => {
  const ids = await Promise.all(
    [setUp(), setUp()].map(async ({ source, publisher }) => {
      await source.accept('bids', Buffer.from('{}'));
      await source.accept('bids', Buffer.from('{}'));
      return publisher.published.map(({ payload }) => decodeMessage(payload)?.id);
    }),
  );
  const distinct = new Set(ids.flat());
  assert.deepEqual([distinct.size, distinct.has(undefined)], [2, false]);
});

test('events are published in the order in which they came, though the first one takes longer to decode', async () => {
  const slowly: (() => void)[] = [];
  const decode: Topic['decode'] = ({ value }) =>
    value.length > 2 ? new Promise((resolve) => slowly.push(() => resolve({ n: 1 }))) : { n: 2 };
  const { source, publisher } = localSource({ topics: topics(topic('bids', { decode })) });
  const first = source.accept('bids', Buffer.from('slow'));
  const second = source.accept('bids', Buffer.from('2'));
  await new Promise((resolve) => setImmediate(resolve));
  slowly[0]?.();
  await Promise.all([first, second]);
  assert.deepEqual(
    publisher.published
      .map(({ payload }) => decodeMessage(payload))
      .map((seen) => [seen?.o, seen?.event['n']]),
    [
      [0, 1],
      [1, 2],
    ],
  );
});

test('a payload that is no event is refused with the reason, and counted', async () => {
  const { source, publisher, metrics } = setUp();
  const refusal = { code: 'UNDECODABLE', reason: 'not_json' };
  await assert.rejects(source.accept('bids', Buffer.from('nope')), refusal);
  assert.equal(publisher.attempts, 0);
  assert.equal((await metrics.deadLetters.get()).values[0]?.value, 1);
});

test('when the bus does not take the event, the caller gets an error', async () => {
  const { source, publisher } = setUp();
  publisher.failing = (publications) => publications;
  await assert.rejects(source.accept('bids', Buffer.from('{}')), { name: 'PublishError' });
});
