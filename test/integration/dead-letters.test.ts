import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Message } from 'kafkajs';
import { eventually } from '../helpers/eventually.ts';
import { runCli, startReady } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { numbersOf, subscribed } from '../helpers/graphql-client.ts';
import { disconnectAfter, kafkaAdmin, kafkaClient, kafkaProducer } from '../helpers/kafka-client.ts';
import { range } from '../helpers/numbers.ts';
import { kafkaBrokers, testNeeding, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const test = testNeeding('kafka', 'redis');

/** Decodes what the graph without it can't: `1=5` is the item 1 with n 5. */
const decoding = (topic: string) => `
  import { defineGraph } from 'sluice';
  const decode = ({ value }) => {
    const [id, n] = value.toString().split('=');
    return { id: Number(id), n: Number(n) };
  };
  export default defineGraph({ decode: { '${topic}': decode } });
`;

interface ListedLetter {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly reason: string;
  readonly key: string | null;
  readonly bytes: number | null;
  readonly replayedFrom?: string;
  readonly letter: { readonly topic: string; readonly partition: number; readonly offset: number };
}

/** Runs `sluice dead-letters` with `--json`. */
async function deadLetters(t: TestContext, topic: string, args: string) {
  const settings = { KAFKA_BROKERS: kafkaBrokers(), DEAD_LETTER_TOPIC: topic };
  const { code, stdout, stderr } = await runCli(t, ['dead-letters', ...args.split(' '), '--json'], settings);
  const letters = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ListedLetter);
  return { code, stderr, letters };
}

/** @returns what counts the messages in a topic */
async function counter(t: TestContext): Promise<(topic: string) => Promise<number>> {
  const admin = await kafkaAdmin(t);
  return async (topic) => {
    const offsets = await admin.fetchTopicOffsets(topic);
    return offsets.reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0);
  };
}

const transactional = () => ({
  transactionalId: randomUUID(),
  idempotent: true,
  maxInFlightRequests: 1,
});

/** Returns a dead letter like those of the gateway. */
function letterOf(topic: string, partition: number, offset: number, options: Partial<Message> = {}): Message {
  return {
    key: null,
    value: `${offset}`,
    ...options,
    headers: {
      ...options.headers,
      'sluice-topic': topic,
      'sluice-partition': String(partition),
      'sluice-offset': String(offset),
      'sluice-timestamp': String(Date.UTC(2026, 4, 1)),
      'sluice-reason': 'not_json',
    },
  };
}

test('dead letters are listed, fail again as such while nothing is mended, and reach a subscriber once it is', async (t) => {
  const topic = await createTopic(t, { partitions: 2 });
  const dead = await createTopic(t, { partitions: 2 });
  const settings = { ...podSettings(topic), DEAD_LETTER_TOPIC: dead };
  const broken = await startReady(t, { ...settings, GRAPH: await itemGraph(t, topic) });
  const [producer, messagesIn] = [await kafkaProducer(t), await counter(t)];
  const ill = { partition: 1, key: 'a' };
  await producer.send({ topic, messages: [1, 2, 3].map((n) => ({ ...ill, value: `1=${n}` })) });
  await producer.send({ topic, messages: [{ partition: 0, key: 'b', value: '' }] });
  await eventually(async () => assert.equal(await messagesIn(dead), 4));

  const listed = await deadLetters(t, dead, 'list --reason not_json');
  assert.equal(listed.code, 0);
  assert.deepEqual(
    listed.letters.map((each) => [each.topic, each.partition, each.offset, each.key, each.bytes]),
    [0, 1, 2].map((offset) => [topic, 1, offset, 'a', 3]),
  );
  assert.ok(listed.letters.every(({ letter }) => letter.topic === dead));
  assert.match(listed.stderr, /^3 of 4 dead letters$/m);

  const dry = await deadLetters(t, dead, 'replay --key a --dry-run');
  assert.deepEqual([dry.code, dry.letters], [0, listed.letters]);
  assert.equal(await messagesIn(topic), 4);

  const vain = await deadLetters(t, dead, 'replay --key a --limit 1');
  assert.deepEqual([vain.code, vain.letters], [0, listed.letters.slice(0, 1)]);
  await eventually(async () => assert.equal(await messagesIn(dead), 5));
  const again = (await deadLetters(t, dead, 'list --key a')).letters.at(-1);
  assert.deepEqual([again?.offset, again?.replayedFrom], [3, `${topic}/1/0`]);
  await broken.stop();

  const GRAPH = await itemGraph(t, topic, { 'graph.js': decoding(topic) });
  const mended = await startReady(t, { ...settings, GRAPH });
  const received = await subscribed(t, mended, { query: 'subscription { item(id: ["1"]) { n } }' });
  const replayed = await deadLetters(t, dead, `replay --topic ${topic} --key a`);
  assert.equal(replayed.code, 0);
  assert.match(replayed.stderr, /^replayed 4 of 5 dead letters$/m);
  await received.until(4);
  assert.deepEqual(numbersOf(received), [1, 2, 3, 1]);
  assert.equal(await messagesIn(dead), 5);
});

test('a replayed message has the key, value, headers and partition of the original', async (t) => {
  const topic = await createTopic(t, { partitions: 3 });
  const dead = await createTopic(t);
  const producer = await kafkaProducer(t);
  const headers = { trace: 't', tags: ['x', 'y'], 'sluice-replayed-from': `${topic}/2/1` };
  const value = Buffer.from([0xff, 0, 1]);
  await producer.send({
    topic: dead,
    messages: [letterOf(topic, 2, 8, { key: Buffer.from([0xfe]), value, headers }), letterOf(topic, 9, 1)],
  });
  const { code } = await deadLetters(t, dead, 'replay --all');
  assert.equal(code, 0);
  const consumer = kafkaClient().consumer({ groupId: randomUUID(), maxWaitTimeInMs: 100 });
  disconnectAfter(t, consumer);
  const read: { partition: number; message: object }[] = [];
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ partition, message }) => {
      const texts = Object.entries(message.headers ?? {}).map(([name, each]) => [name, String(each)]);
      read.push({ partition, message: { key: message.key, value: message.value, headers: texts } });
    },
  });
  // The other one's partition is not there any more.
  await eventually(() => assert.equal(read.length, 2));
  assert.deepEqual(
    read.find(({ partition }) => partition === 2),
    {
      partition: 2,
      message: {
        key: Buffer.from([0xfe]),
        value,
        headers: [
          ['trace', 't'],
          ['tags', 'x,y'],
          ['sluice-replayed-from', `${topic}/2/8`],
        ],
      },
    },
  );
});

test('list ends where transactions end a partition: committed, aborted or still open', async (t) => {
  const dead = await createTopic(t, { partitions: 4 });
  const transact = async (partition: number, offset: number) => {
    const producer = await kafkaProducer(t, undefined, transactional());
    const transaction = await producer.transaction();
    const messages = [{ ...letterOf('bids', 0, offset), partition }];
    await transaction.send({ topic: dead, messages });
    return transaction;
  };
  await (await transact(0, 10)).commit();
  await (await transact(1, 20)).commit();
  for (let round = 0; round < 3; round += 1) await (await transact(1, 21)).abort();
  await transact(2, 30);

  const { code, letters, stderr } = await deadLetters(t, dead, 'list');
  assert.equal(code, 0, stderr);
  assert.deepEqual(letters.map(({ offset }) => offset).toSorted(), [10, 20]);
  const behind = await deadLetters(t, dead, 'list --from 0/1,1/1');
  assert.deepEqual([behind.code, behind.letters], [0, []]);
  const empty = await deadLetters(t, await createTopic(t), 'list');
  assert.deepEqual([empty.code, empty.letters], [0, []]);
});

test('a replay that can not go on fails, and says how many were sent and where to go on', async (t) => {
  const topic = await createTopic(t);
  const dead = await createTopic(t);
  const [producer, messagesIn] = [await kafkaProducer(t), await counter(t)];
  const gone = `gone-${randomUUID()}`;
  const before = range(0, 500).map((offset) => letterOf(topic, 0, offset));
  await producer.send({ topic: dead, messages: [...before, letterOf(gone, 0, 0)] });
  const { code, letters, stderr } = await deadLetters(t, dead, 'replay --all');
  assert.deepEqual([code, letters.length], [1, 500]);
  assert.match(stderr, /^replayed 500 of 501 dead letters$/m);
  assert.match(stderr, new RegExp(`expected topics that exist .*, got dead letters of ${gone}`));
  assert.match(stderr, /^go on behind them with --from 0\/500$/m);
  assert.equal(await messagesIn(topic), 500);
});

test('what is missing is told: settings, the topic, a filter', async (t) => {
  const nothing = await runCli(t, ['dead-letters', 'list']);
  assert.equal(nothing.code, 1);
  assert.match(nothing.stderr, /KAFKA_BROKERS: expected .*, got nothing\n {2}DEAD_LETTER_TOPIC: expected/);
  const noTopic = await deadLetters(t, `none-${randomUUID()}`, 'list');
  assert.equal(noTopic.code, 1);
  assert.match(noTopic.stderr, /^sluice: DEAD_LETTER_TOPIC: expected a topic that exists/m);
  for (const args of ['replay', 'list --nope', 'lst']) {
    const { code, stderr } = await deadLetters(t, 'dead', args);
    assert.equal(code, 2, args);
    assert.match(stderr, /expected|Unknown option/);
  }
  for (const asked of [['--help'], ['list', '-h'], ['-h']]) {
    const help = await runCli(t, ['dead-letters', ...asked]);
    assert.deepEqual(
      [help.code, help.stdout.split('\n')[0]],
      [0, 'sluice dead-letters list [--json] [filters]'],
    );
  }
});
