import assert from 'node:assert/strict';
import { runCli, startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { subscribed } from '../helpers/graphql-client.ts';
import { kafkaProducer } from '../helpers/kafka-client.ts';
import { kafkaBrokers, testNeeding, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'redis');

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** What it is, its value, and the reason that is counted and goes with it. */
const POISON: readonly (readonly [string, Buffer | string, string])[] = [
  ['not json', 'not json', 'not_json'],
  ['empty value', '', 'empty'],
  ['a megabyte of nested arrays', nested(500_000), 'too_large'],
  ['nested arrays', nested(40_000), 'not_an_object'],
  ['nested arrays in an object', `{"id":1,"n":${nested(40_000)}}`, 'too_deep'],
  ['a __proto__ key', '{"id":1,"__proto__":{"polluted":true},"n":1}', 'forbidden_key'],
  ['a key that becomes __proto__', '{"id":1,"__Proto__":{"polluted":true},"n":1}', 'forbidden_key'],
  [
    'a constructor with a prototype',
    '{"id":1,"constructor":{"prototype":{"polluted":true}},"n":1}',
    'forbidden_key',
  ],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]), 'invalid_utf8'],
  ['a list', '[{"id":1}]', 'not_an_object'],
  ['a number', '42', 'not_an_object'],
];

test('a poison message is counted by its reason, goes to the dead-letter topic with it, and the next good event arrives', async (t) => {
  const topic = await createTopic(t);
  const deadLetters = await createTopic(t);
  const gateway = await startReady(t, {
    GRAPH: await itemGraph(t, topic),
    ...podSettings(topic),
    DEAD_LETTER_TOPIC: deadLetters,
  });
  const received = await subscribed(t, gateway);
  const producer = await kafkaProducer(t);
  let n = 100;
  for (const [what, value] of POISON) {
    const good = (n += 1);
    const messages = [{ key: what, value }, { value: JSON.stringify({ id: 1, n: good }) }];
    await producer.send({ topic, messages });
    await received.until(n - 100);
    assert.equal(received.data.at(-1)?.item.n, good, `the good event after ${what}`);
  }
  // Debezium writes one after each deletion: an alert on dead letters would fire for ever.
  await producer.send({ topic, messages: [{ key: '1', value: null }] });
  await gateway.untilMetric('sluice_tombstones_total', 1);
  const count = POISON.length;
  await gateway.untilMetric('sluice_dead_letters_total', count);
  for (const reason of new Set(POISON.map(([, , each]) => each))) {
    const labels = `{topic="${topic}",reason="${reason}"}`;
    const expected = POISON.filter(([, , each]) => each === reason).length;
    assert.equal(await gateway.metric(`sluice_dead_letters_total${labels}`), expected, reason);
  }
  const settings = { KAFKA_BROKERS: kafkaBrokers(), DEAD_LETTER_TOPIC: deadLetters };
  const { stdout } = await runCli(t, ['dead-letters', 'list', '--json'], settings);
  const letters = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { key: string; reason: string });
  assert.deepEqual(
    letters.map(({ key, reason }) => [key, reason]),
    POISON.map(([what, , reason]) => [what, reason]),
  );
  assert.equal(await gateway.metric('sluice_events_total'), 2 * count + 1);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  assert.equal(await gateway.stop(), 0);
});
