import type { TestContext } from 'node:test';
import { keyChannel } from '../../../src/events/channel.ts';
import { range } from '../../helpers/numbers.ts';
import { connectAndInit } from '../../helpers/raw-socket.ts';
import { redisAdmin } from '../../helpers/redis.ts';
import { redisUrl } from '../../helpers/services.ts';
import type { Pod } from './pod.ts';
import { text, WHOLE, wideJson, type Attacks } from './shapes.ts';

/** Publishes to the channel of the honest subscriber, as something else in Redis may. Events follow it. */
async function publish({ topics, beat }: Pod, t: TestContext, payload: string, times: number): Promise<void> {
  const redis = await redisAdmin(t, { url: redisUrl() });
  const channel = keyChannel(`${topics.honest}:`, topics.honest, 'id', '1');
  await Promise.all(range(0, times).map(() => redis.publish(channel, payload)));
  await beat();
  redis.disconnect();
}

export const redisMessage: Attacks = {
  long: (pod, t) => publish(pod, t, JSON.stringify({ v: 1, text: text(4_000_000) }), 5),
  wide: (pod, t) => publish(pod, t, wideJson(100_000), 5),
  many: (pod, t) => publish(pod, t, '{"v":1}', 10_000),
  slow: WHOLE,
  endless: WHOLE,
};

/** Bytes of events that the producer sends in one request. */
const MOST_AT_ONCE = 800_000;

/** Lists that one subscription reads. */
const LISTS_OF_OPERATION = 50;

interface Lists {
  readonly lists: number;
  /** In each list. */
  readonly events: number;
  /** In each event. */
  readonly bytes: number;
}

/** Fills lists of history, and has a client read all of them at once, four times. */
async function resume(pod: Pod, t: TestContext, { lists, events, bytes }: Lists): Promise<void> {
  const { gateway, producer, topics, untilConsumed } = pod;
  const keys = range(0, lists).map((index) => `${lists}-${index}`);
  const groups = range(0, Math.ceil(lists / LISTS_OF_OPERATION)).map((index) =>
    keys.slice(LISTS_OF_OPERATION * index, LISTS_OF_OPERATION * (index + 1)),
  );
  const client = await connectAndInit(t, gateway.graphqlUrl);
  const subscribe = (round: number): void => {
    for (const [index, id] of groups.entries())
      client.subscribe(`${round}-${index}`, 'subscription ($id: [ID!]) { kept(id: $id) { n } }', { id });
  };
  // A channel's list is begun by its first subscriber.
  subscribe(0);
  await client.roundTrip();
  const most = Math.max(1, Math.floor(MOST_AT_ONCE / bytes));
  for (const n of range(0, events)) {
    const messages = keys.map((id) => ({ value: JSON.stringify({ id, n, text: text(bytes) }) }));
    for (let from = 0; from < lists; from += most)
      await producer.send({ topic: topics.kept, messages: messages.slice(from, from + most) });
  }
  await untilConsumed(topics.kept);
  for (const round of range(1, 5)) subscribe(round);
  const isOfLastRound = `4-${groups.length - 1}`;
  const isRead = client.until(({ id }) => id === isOfLastRound).then(() => client.roundTrip());
  // A client that asks for more than its share is told a gap, by closing its socket.
  await Promise.any([isRead, client.closed]);
  client.webSocket.terminate();
}

export const historyList: Attacks = {
  long: (pod, t) => resume(pod, t, { lists: 50, events: 4, bytes: 200_000 }),
  wide: (pod, t) => resume(pod, t, { lists: 1_000, events: 2, bytes: 5_000 }),
  many: (pod, t) => resume(pod, t, { lists: 100, events: 100, bytes: 500 }),
  slow: WHOLE,
  endless: WHOLE,
};
