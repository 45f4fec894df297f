import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Explanation } from '../../src/explain/explanation.ts';
import { runCli, startReady, type GatewayProcess } from '../helpers/gateway.ts';
import { itemGraph } from '../helpers/graph-folder.ts';
import { subscribed } from '../helpers/graphql-client.ts';
import { kcat } from '../helpers/kcat.ts';
import { testNeeding, podSettings } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';
import { eventually } from '../helpers/eventually.ts';

const test = testNeeding('kafka', 'redis', 'kcat');

const rowsOf = async (pod: GatewayProcess, table: string) =>
  (await pod.debug<{ rows: readonly { readonly id: string }[] }>(table)).rows;

/** Two pods of one consumer group, on a topic of one partition: the one that consumes it, and the other. */
async function startPods(t: TestContext, topic: string): Promise<[GatewayProcess, GatewayProcess]> {
  const settings = { GRAPH: await itemGraph(t, topic), ...podSettings(topic) };
  const [one, other] = await Promise.all([startReady(t, settings), startReady(t, settings)]);
  // The second pod to join has the group share the partition out again.
  const isConsumer = await eventually(async () => {
    const rows = await Promise.all([one, other].map((pod) => rowsOf(pod, 'partitions')));
    const counts = rows.map(({ length }) => length);
    assert.deepEqual(counts.toSorted(), [0, 1]);
    return counts[0] === 1;
  });
  return isConsumer ? [one, other] : [other, one];
}

test('of two pods, the one that consumed an event and the one with the connection give one answer together', async (t) => {
  const topic = await createTopic(t);
  const [consumer, holder] = await startPods(t, topic);
  const query = 'subscription { item(id: "7") { id n } }';
  const client = await subscribed(t, holder, { query });
  const [{ id } = { id: '' }] = await rowsOf(holder, 'connections');
  const explained = async (offset: number, ...pods: readonly GatewayProcess[]): Promise<string> => {
    const event = ['--topic', topic, '--partition', '0', '--offset', `${offset}`];
    const urls = pods.flatMap(({ adminUrl }) => ['--url', adminUrl]);
    const { stdout, stderr } = await runCli(t, ['explain', '--connection', id, ...event, ...urls]);
    return stdout + stderr;
  };
  const before = await explained(0, holder, consumer);
  assert.match(before, /consumed by none of the processes asked, as far as they know/);
  assert.match(before, /item: not recorded/);

  await kcat(t, topic, [
    { key: 'k', value: '{"id":"7","n":1}' },
    { key: 'k', value: '{"id":"8","n":2}' },
    { key: 'k', value: 'no JSON' },
  ]);
  await client.until(1);

  const place = new RegExp(`^${topic} 0/0, connection ${id} of ${holder.adminUrl}, worker 1\n`);
  const routed = `consumed at 20.* by ${consumer.adminUrl}, worker 1: routed\n`;
  await eventually(async () => {
    const delivered = await explained(0, holder, consumer);
    assert.match(delivered, place);
    assert.match(delivered, new RegExp(routed));
    assert.match(delivered, new RegExp(`route: by id "7" to .*${topic}:id=7\n`));
    assert.match(delivered, /publish: the bus has acknowledged it/);
    assert.match(delivered, /item: delivered\n/);
  });
  await eventually(async () => {
    const other = await explained(1, holder, consumer);
    assert.match(other, new RegExp(`${routed}.*\n.*route: by id "8"`));
    assert.match(other, new RegExp(`item: other channel\n.*item listens to .*${topic}:id=7\n`));
  });
  await eventually(async () => {
    const letter = await explained(2, holder, consumer);
    assert.match(letter, /: dead letter\n.*decode: it could not be decoded: .*\n.*item: dead letter\n/);
  });

  // The pod with the connection alone knows of none but those that came to it.
  const alone = await explained(1, holder);
  assert.match(alone, /consumed by none of the processes asked/);
  assert.match(alone, /item: not recorded/);
  // An id is one of the first pod's.
  const swapped = await explained(0, consumer, holder);
  assert.match(swapped, new RegExp(`expected the id of one that is open in this process .*got ${id}`));
  const asked = new URLSearchParams({ topic, partition: '0', offset: '1' });
  const { connection, consumed, subscriptions } = await consumer.debug<Explanation>(`explain?${asked}`);
  assert.deepEqual([connection, consumed?.outcome, subscriptions], [null, 'routed', []]);
  assert.equal(consumed?.channels?.length, 2);
});

test('an event of a key is explained by two pods together, though it came before anyone asked', async (t) => {
  const topic = await createTopic(t);
  const [consumer, holder] = await startPods(t, topic);
  const client = await subscribed(t, holder, { query: 'subscription { item(id: "7") { id n } }' });
  const [{ id } = { id: '' }] = await rowsOf(holder, 'connections');
  await kcat(t, topic, [
    { key: 'k', value: '{"id":"8","n":1}' },
    { key: 'k', value: '{"id":"7","n":2}' },
  ]);
  await client.until(1);
  const explained = async (...args: readonly string[]): Promise<string> => {
    const urls = [holder, consumer].flatMap(({ adminUrl }) => ['--url', adminUrl]);
    const { stdout, stderr } = await runCli(t, ['explain', '--topic', topic, ...args, ...urls]);
    return stdout + stderr;
  };
  // Until it is published: the client may have it before Redis has told the consumer.
  await eventually(async () => {
    const said = await explained('--connection', id, '--key', '7');
    assert.match(said, new RegExp(`^${topic} 0/1, connection ${id} of ${holder.adminUrl}, worker 1\n`));
    assert.match(said, new RegExp(`consumed at 20.* by ${consumer.adminUrl}, worker 1: routed\n`));
    assert.match(said, new RegExp(`route: by id "7" to .*${topic}:id=7\n`));
    assert.match(said, /publish: the bus has acknowledged it/);
    assert.match(said, new RegExp(`item: let through\n.*channel: it came over .*${topic}:id=7 at 20`));
  });
  const other = await explained('--connection', id, '--key', '8');
  assert.match(other, new RegExp(`^${topic} 0/0, `));
  assert.match(other, new RegExp(`route: by id "8" to .*${topic}:id=8\n`));
  assert.match(other, /item: other channel\n/);
  const ofKafkaKey = await explained('--key', 'k');
  assert.deepEqual(
    [...ofKafkaKey.matchAll(/^\S+ (0\/\d)$/gm)].map(([, place]) => place),
    ['0/0', '0/1'],
  );
});

test('a pod that can not be asked is told of, and the others answer', async (t) => {
  const topic = await createTopic(t);
  const consumer = await startReady(t, { GRAPH: await itemGraph(t, topic), ...podSettings(topic) });
  await subscribed(t, consumer);
  const [{ id } = { id: '' }] = await rowsOf(consumer, 'connections');
  const args = ['--connection', id, '--topic', topic, '--partition', '0', '--offset', '0'];
  const urls = ['--url', consumer.adminUrl, '--url', 'http://127.0.0.1:1'];
  const { code, stdout } = await runCli(t, ['explain', ...args, ...urls]);
  assert.equal(code, 0);
  assert.match(stdout, /item: not recorded/);
  assert.match(stdout, /\(http:\/\/127\.0\.0\.1:1 could not be asked: .*\)/);
});
