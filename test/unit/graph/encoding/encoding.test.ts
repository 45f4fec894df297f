import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import path from 'node:path';
import { buildGraph } from '../../../../src/graph/loader/build-graph.ts';
import { checkGraph } from '../../../../src/graph/loader/check-graph.ts';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';
import { graphJs, testCases, type Case } from '../check/cases.ts';

const schema = (event: string, fields = 'id: ID') =>
  `type Subscription { bid_placed(id: ID): Bid ${event} }\ntype Bid { ${fields} }`;

const CASES: Readonly<Record<string, Case>> = {
  'a schema for a format that has none': [
    schema('@event(topic: "bids", schema: ›"a.avsc")'),
    'schema: expected none, as format is JSON, got "a.avsc" → format: AVRO or format: PROTOBUF',
  ],
  'a schema of keys without their format': [
    schema('@event(topic: "bids", keySchema: ›"a.avsc")'),
    'keySchema: expected none, as keyFormat is not given, got "a.avsc" → keyFormat: AVRO',
  ],
  'a schema that is not there': [
    schema('@event(topic: "bids", format: AVRO, schema: ›"a.avsc")'),
    'schema "a.avsc": there is no file a.avsc → a file in the folder of the graph',
  ],
  'a schema outside of the folder': [
    schema('@event(topic: "bids", format: AVRO, schema: ›"../a.avsc")'),
    'schema "../a.avsc": expected a file in the folder of the graph, got ../a.avsc',
  ],
  'a file of another format': [
    schema('@event(topic: "bids", format: AVRO, schema: ›"schema.graphql")'),
    'schema "schema.graphql": expected a schema as JSON, got something else',
  ],
  'a file of several messages, of which none is chosen': [
    schema('@event(topic: "bids", format: PROTOBUF, schema: ›"several.proto")'),
    'schema "several.proto": there is no file several.proto',
  ],
  'a file of one format as that of another, though a topic has it': [
    `type Subscription { one: Bid @event(topic: "a", format: AVRO, schema: ›"x.avsc") two: Bid @event(topic: "b", schema: ›"x.avsc") }\ntype Bid { id: ID }`,
    ['schema "x.avsc": there is no file x.avsc', 'schema: expected none, as format is JSON, got "x.avsc"'],
  ],
  'two formats of one topic': [
    `type Subscription { one: Bid @event(topic: "bids", format: AVRO) two: Bid @event(topic: "bids", format: ›PROTOBUF) }\ntype Bid { id: ID }`,
    'topic "bids" is shown with format: PROTOBUF here and with format: AVRO by Subscription.one → All fields that show a topic need the same format',
  ],
  'two envelopes of one topic': [
    `type Subscription { one: Bid @event(topic: "bids") two: Bid @event(topic: "bids", envelope: ›DEBEZIUM) }\ntype Bid { id: ID }`,
    'topic "bids" is shown with envelope: DEBEZIUM here and with envelope: NONE by Subscription.one',
  ],
  'a format beside a decode of the graph': [
    schema('@event(topic: "bids", format: ›AVRO)'),
    'format: expected none, as the graph\'s code has a decode for the topic "bids", got AVRO → drop the decode',
    graphJs('{ decode: { bids: () => null } }'),
  ],
  'an envelope beside a decode of the graph': [
    schema('@event(topic: "bids", envelope: ›CLOUDEVENTS)'),
    'envelope: expected none, as the graph\'s code has a decode for the topic "bids", got CLOUDEVENTS',
    graphJs('{ decode: { bids: () => null } }'),
  ],
  'deletions that are not noted, as keys are no text': [
    schema('@event(topic: "bids", format: AVRO, envelope: ›DEBEZIUM, replay: 1)'),
    'warning: rows of topic "bids" that are deleted stay in what is kept of it: its Kafka keys are read as text → write keyFormat: AVRO',
  ],
  'two sources of a field': [
    schema('@event(topic: "bids")', 'id: ID ›@from(header: "a", key: true)'),
    '@from: expected one source, got header and key → header: "tenant"',
  ],
  'no source of a field': [
    schema('@event(topic: "bids")', 'id: ID ›@from'),
    '@from: expected one source, got none',
  ],
  'a source that is none': [
    schema('@event(topic: "bids")', 'id: ID ›@from(path: "a..b")'),
    '@from(path:): expected a source, got another value',
  ],
  'a source of a field that no event has': [
    `type Subscription { one: Bid @event(topic: "bids") }\ntype Bid { seller: Seller }\ntype Seller { id: ID ›@from(key: true) }`,
    '@from has no effect on Seller.id, which is no field of an event → the type of a field with @event',
  ],
};

const FILES = {
  'key.avsc': '"long"',
  'bid.avsc': JSON.stringify({
    type: 'record',
    name: 'Bid',
    fields: [
      { name: 'bidId', type: 'long' },
      {
        name: 'seller',
        type: { type: 'record', name: 'Seller', fields: [{ name: 'sellerId', type: 'long' }] },
      },
    ],
  }),
  'bids.proto':
    'syntax = "proto3"; package acme; import "types/seller.proto"; message Bid { int64 bidId = 1; Seller seller = 2; }',
  'types/seller.proto':
    'syntax = "proto3"; package acme; import "google/protobuf/timestamp.proto"; message Seller { int64 sellerId = 1; }',
};

async function topicOf(t: TestContext, event: string, types: string) {
  const folder = await graphFolder(t, {
    'schema.graphql': `type Subscription { bid: Bid @event(topic: "bids", ${event}) } ${types}`,
    ...FILES,
  });
  const topic = (await loadGraph(folder)).topics.get('bids');
  assert.ok(topic !== undefined);
  return topic;
}

describe('sluice check, of formats,', () => {
  testCases(CASES);
});

describe('a schema in the folder of a graph', () => {
  const types = 'scalar Long type Bid { bid_id: Long seller: Seller } type Seller { seller_id: Int }';

  for (const [what, event, bytes] of [
    ['Avro', 'format: AVRO, schema: "bid.avsc"', '0a0e'],
    ['Protobuf', 'format: PROTOBUF, schema: "bids.proto#acme.Bid"', '080512020807'],
    ['Protobuf’s first message', 'format: PROTOBUF, schema: "bids.proto"', '080512020807'],
  ] as const) {
    it(`decodes values to what the types take: ${what}`, async (t) => {
      const { decodeValue } = await topicOf(t, event, types);
      const expected =
        what === 'Avro' ? { bidId: '5', seller: { sellerId: 7 } } : { bidId: '5', seller: { sellerId: 7 } };
      assert.deepEqual(decodeValue?.(Buffer.from(bytes, 'hex')), expected);
    });
  }
});

describe('a graph with schemas', () => {
  const files = {
    'schema.graphql':
      'type Subscription { bid: Bid @event(topic: "bids", format: PROTOBUF, schema: "bids.proto") } type Bid { bid_id: ID }',
    ...FILES,
  };

  it('is checked by a path that is relative, and built with them', async (t) => {
    const folder = await graphFolder(t, files);
    assert.deepEqual(await checkGraph(path.relative(process.cwd(), folder)), []);
    await buildGraph(folder, path.join(folder, 'dist'));
    assert.deepEqual(await checkGraph(path.join(folder, 'dist')), []);
  });

  it('names a message where a file has several', async (t) => {
    const several = 'syntax = "proto3"; package acme; message Other {} message Bid { int64 bidId = 1; }';
    const folder = await graphFolder(t, { ...files, 'bids.proto': several });
    const [found] = await checkGraph(folder);
    assert.match(
      found?.message ?? '',
      /expected a message behind the file, #…, as it has several: acme\.Other, acme\.Bid/,
    );
  });

  it('decodes keys with all their digits', async (t) => {
    const { decodeKey } = await topicOf(t, 'keyFormat: AVRO, keySchema: "key.avsc"', 'type Bid { id: ID }');
    assert.equal(decodeKey?.(Buffer.from('82808080808080 20'.replace(' ', ''), 'hex')), '9007199254740993');
  });
});

describe('the shape of a topic’s messages', () => {
  const types =
    'scalar Long scalar Money @digits type Bid { id: ID amount: Int total: Money lines: [Line] op: Long @from(path: "source.lsn") self: Bid } type Line { price: Float, note: String }';

  it('is that of the types, with lists and types within themselves', async (t) => {
    const { shape } = await topicOf(t, 'keys: SNAKE', types);
    const leafAt = (...names: string[]) => names.reduce((at, name) => at?.field(name), shape)?.leaf;
    assert.deepEqual(
      [
        leafAt('id'),
        leafAt('amount'),
        leafAt('total'),
        leafAt('lines', 'price'),
        leafAt('lines', 'note'),
        leafAt('missing'),
      ],
      ['text', 'number', 'digits', 'number', 'text', undefined],
    );
    assert.equal(shape?.field('lines')?.isList, true);
    assert.equal(leafAt('self', 'self', 'total'), 'digits');
    assert.equal(leafAt('source', 'lsn'), 'digits');
  });

  it('is one and the same however deep a type is within itself, so that what is compiled of it is bounded', async (t) => {
    const { shape } = await topicOf(t, 'keys: SNAKE', types.replace(/op: Long @from\([^)]*\)/, ''));
    assert.equal(shape?.field('self'), shape?.field('self')?.field('self'));
  });

  it('has the envelope around the row', async (t) => {
    const { shape } = await topicOf(t, 'envelope: DEBEZIUM', types);
    const leafAt = (...names: string[]) => names.reduce((at, name) => at?.field(name), shape)?.leaf;
    assert.deepEqual(
      [
        leafAt('after', 'total'),
        leafAt('before', 'total'),
        leafAt('payload', 'after', 'total'),
        leafAt('source', 'lsn'),
        leafAt('total'),
      ],
      ['digits', 'digits', 'digits', 'digits', undefined],
    );
  });

  it('is not there for JSON whose types have no such scalars, which costs such topics nothing', async (t) => {
    const { shape } = await topicOf(t, 'keys: SNAKE', 'type Bid { id: ID }');
    assert.equal(shape, undefined);
  });
});
