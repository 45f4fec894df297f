import type { TestContext } from 'node:test';
import type { Message } from 'kafkajs';
import { range } from '../../helpers/numbers.ts';
import { connectAndInit } from '../../helpers/raw-socket.ts';
import type { Pod } from './pod.ts';
import { repeated, text, wideJson, WHOLE, type Attacks } from './shapes.ts';

/** A partition that is named spares the producer a hash of the key, which takes longer than all else for long ones. */
const PARTITION = 0;

const event = (fields: object): string => JSON.stringify({ id: 'attacked', ...fields });

/** Has records written in one request of the producer, where somebody is subscribed to their keys. */
async function produce(
  { gateway, producer, topics, untilConsumed }: Pod,
  t: TestContext,
  messages: readonly Message[],
  keys: readonly string[] = ['attacked'],
): Promise<void> {
  const subscriber = await connectAndInit(t, gateway.graphqlUrl);
  for (let from = 0; from < keys.length; from += 100) {
    const id = keys.slice(from, from + 100);
    subscriber.subscribe(`${from}`, 'subscription ($id: [ID!]) { item(id: $id) { id } }', { id });
  }
  await subscriber.roundTrip();
  await producer.send({
    topic: topics.item,
    messages: messages.map((message) => ({ partition: PARTITION, ...message })),
  });
  await untilConsumed(topics.item);
  subscriber.webSocket.terminate();
}

export const kafkaRecord: Attacks = {
  long: async (pod, t) => {
    const value = event({ text: text(900_000) });
    for (const _ of range(0, 20)) await produce(pod, t, [{ value }]);
  },
  wide: async (pod, t) => {
    const keys = range(0, 300).map((index) => `key-${index}`);
    const value = event({ id: keys, text: text(4_000) });
    for (const _ of range(0, 3)) await produce(pod, t, repeated({ value }, 150), keys);
    for (const wide of [wideJson(50_000), event({ lists: repeated([], 300_000) })])
      for (const _ of range(0, 10)) await produce(pod, t, [{ value: wide }]);
  },
  many: (pod, t) => produce(pod, t, repeated({ value: event({ n: 1 }) }, 15_000)),
  slow: WHOLE,
  endless: WHOLE,
};

export const kafkaHeader: Attacks = {
  long: async (pod, t) => {
    for (const _ of range(0, 10))
      await produce(pod, t, [{ value: event({}), headers: { a: text(900_000) } }]);
  },
  wide: (pod, t) => {
    const headers = Object.fromEntries(range(0, 50_000).map((index) => [`h${index}`, 'x']));
    return produce(pod, t, [{ value: event({}), headers }]);
  },
  many: (pod, t) =>
    produce(pod, t, repeated({ value: event({}), headers: { a: 'x', b: 'y', c: 'z' } }, 5_000)),
  slow: WHOLE,
  endless: WHOLE,
};

export const kafkaKey: Attacks = {
  long: async (pod, t) => {
    for (const _ of range(0, 10)) await produce(pod, t, [{ key: text(900_000), value: event({}) }]);
  },
  wide: 'it has no parts',
  many: (pod, t) =>
    produce(
      pod,
      t,
      range(0, 10_000).map((index) => ({ key: `${index}`, value: event({ id: `${index}` }) })),
    ),
  slow: WHOLE,
  endless: WHOLE,
};
