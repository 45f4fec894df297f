import assert from 'node:assert/strict';
import test from 'node:test';
import { bindingsOf, overlap, streamOf, topicNamed } from '../../../src/graph/topics.ts';
import { loadGraph } from '../../../src/graph/loader/load-graph.ts';
import { graphFolder } from '../../helpers/graph-folder.ts';

const GRAPH = `
  type Subscription {
    all: Order @event(topic: "/^orders-/")
    same(id: ID): Order @event(topics: ["/^orders-/"], key: "id", keyFrom: KAFKA_KEY)
    two: Order @event(topics: ["orders-us", "orders-eu", "orders-us"], history: { size: 9 })
    eu(region: ID!): Order @event(topic: "payments", key: "region")
    any: Order @event(topic: "/s$/")
  }
  type Order { id: ID! region: ID }`;

test('names of streams do not depend on the order of their topics, and hold nothing that Redis takes for more', () => {
  assert.equal(streamOf(['orders']), 'orders');
  assert.equal(streamOf(['b', 'a', '/^c{2}$/']), 'a,b,~^c<2>$');
});

test('which topics are the same is known of names and patterns, and not of two patterns', () => {
  const pairs = [
    ['a', 'a'],
    ['/^a/', 'ab'],
    ['ab', '/^a/'],
    ['/^a/', '/^a/'],
    ['a', 'b'],
    ['/^a/', 'b'],
    ['/^a/', '/a/'],
  ] as const;
  assert.deepEqual(
    pairs.map(([one, other]) => overlap(one, other)),
    [true, true, true, true, false, false, false],
  );
});

test('a topic of Kafka is in each stream whose name or pattern it has, with the keys of all', async (t) => {
  const folder = await graphFolder(t, { 'schema.graphql': GRAPH });
  const graph = await loadGraph(folder);
  const shown = (name: string) => {
    const topic = topicNamed(graph.topics, name);
    return (
      topic && [
        topic.name,
        topic.streams.map((stream) => stream.name),
        topic.keys,
        topic.kafkaKey,
        bindingsOf(graph, name).map(({ field }) => field),
      ]
    );
  };
  assert.deepEqual(shown('orders-x'), ['orders-x', ['~^orders-'], ['id'], 'id', ['all', 'same']]);
  const both = ['orders-eu,orders-us', '~^orders-'];
  // The list has no key: it contradicts none.
  assert.deepEqual(shown('orders-eu'), ['orders-eu', both, ['id'], 'id', ['all', 'same', 'two']]);
  assert.deepEqual(shown('payments'), [
    'payments',
    ['payments', '~s$'],
    ['region'],
    undefined,
    ['eu', 'any'],
  ]);
  assert.deepEqual(shown('boss'), ['boss', ['~s$'], [], undefined, ['any']]);
  for (const name of ['other', '/^orders-/', 'orders-/', '']) assert.equal(shown(name), undefined);
  assert.deepEqual(
    [...graph.streams.values()].map(({ name, history }) => [name, history?.size]),
    [
      ['~^orders-', undefined],
      ['orders-eu,orders-us', 9],
      ['payments', undefined],
      ['~s$', undefined],
    ],
  );
});
