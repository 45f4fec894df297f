import assert from 'node:assert/strict';
import {
  execute,
  getNamedType,
  isCompositeType,
  isLeafType,
  isObjectType,
  isUnionType,
  parse,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql';
import { describe, it, type TestContext } from 'node:test';
import { SnakeCase } from '../../../../src/events/snake-case.ts';
import type { JsonValue } from '../../../../src/events/event.ts';
import { namingOf } from '../../../../src/formats/decoder.ts';
import { describeSchema } from '../../../../src/formats/describe.ts';
import { describeSamples } from '../../../../src/formats/describe-samples.ts';
import { writeSchema } from '../../../../src/graph/encoding/written-types.ts';
import { checkGraph } from '../../../../src/graph/loader/check-graph.ts';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';
import { Random } from '../../../helpers/random.ts';
import { avscType, RandomSchemas, randomValue } from '../../formats/avro-schemas.ts';

const SEEDS = Number(process.env['SEEDS'] ?? 60);
const FROM = Number(process.env['SEED'] ?? 1);

const written = (format: 'AVRO' | 'PROTOBUF' | 'JSON_SCHEMA', text: string, more = ''): string =>
  writeSchema(describeSchema({ format, text }), {
    topic: 'orders',
    arguments: more,
    naming: namingOf('SNAKE'),
  });

const ORDER_AVRO = JSON.stringify({
  type: 'record',
  name: 'Order',
  namespace: 'acme',
  doc: 'What a customer has bought.',
  fields: [
    { name: 'orderId', type: 'long' },
    { name: 'customerId', type: ['null', 'string'] },
    {
      name: 'status',
      type: { type: 'enum', name: 'Status', symbols: ['OPEN', 'PAID'] },
      doc: 'How far it is.',
    },
    { name: 'total', type: { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 } },
    { name: 'labels', type: { type: 'map', values: 'string' } },
    {
      name: 'lines',
      type: {
        type: 'array',
        items: { type: 'record', name: 'Line', fields: [{ name: 'next', type: ['null', 'Line'] }] },
      },
    },
    {
      name: 'payment',
      type: [
        'null',
        { type: 'record', name: 'Card', fields: [{ name: 'number', type: 'string' }] },
        { type: 'record', name: 'Cash', fields: [{ name: 'cents', type: 'int' }] },
      ],
    },
  ],
});

const ORDER_SDL = `type Subscription {
  order_changed(order_id: [ID!]!): Order @event(topic: "orders", key: "order_id", format: AVRO)
}

"""
What a customer has bought.
"""
type Order {
  order_id: ID!
  customer_id: ID
  """
  How far it is.
  """
  status: Status!
  total: Decimal!
  labels: [OrderLabelsEntry!]!
  lines: [Line!]!
  payment: OrderPayment
}

enum Status {
  OPEN
  PAID
}

type OrderLabelsEntry {
  key: String!
  value: String!
}

type Line {
  next: Line
}

type Card {
  number: String!
}

type Cash {
  cents: Int!
}

union OrderPayment = Card | Cash

scalar Decimal
`;

describe('a GraphQL schema of a schema of messages', () => {
  it('is written of Avro', () => {
    assert.equal(written('AVRO', ORDER_AVRO, ', format: AVRO'), ORDER_SDL);
  });

  it('is written of Protobuf', () => {
    const text = `syntax = "proto3"; import "google/protobuf/timestamp.proto";
      message Line { int32 amount = 1; } // A bid on a lot.
      message Bid { int64 id = 1; optional string note = 2; repeated Line lines = 3; map<string, int64> counts = 4;
        google.protobuf.Timestamp at = 5; Kind kind = 6; oneof who { string name = 7; Bid copy = 8; } }
      enum Kind { NEW = 0; OLD = 1; }`;
    const sdl = written('PROTOBUF', text);
    for (const line of [
      'bid_changed(id: [ID!]!): Bid',
      'note: String\n',
      'lines: [Line!]!',
      'counts: [BidCountsEntry!]!',
      'value: Long!',
      'at: String\n',
      'kind: Kind!',
      'name: String\n',
      'copy: Bid\n',
      'scalar Long',
    ]) {
      assert.ok(sdl.includes(line), `${line}\n${sdl}`);
    }
  });

  it('is written of JSON Schema', () => {
    const text = JSON.stringify({
      title: 'stock change',
      type: 'object',
      required: ['product_id', 'place'],
      properties: {
        product_id: { type: 'string', description: 'Of the catalogue.' },
        amount: { type: ['integer', 'null'] },
        price: { anyOf: [{ type: 'number' }, { type: 'null' }] },
        place: { $ref: '#/$defs/place' },
        state: { enum: ['NEW', 'GONE'] },
        any: {},
        rows: { type: 'array', items: { $ref: '#' } },
      },
      $defs: { place: { type: 'object', properties: { aisle: { type: 'string' } } } },
    });
    const sdl = written('JSON_SCHEMA', text);
    for (const line of [
      'stock_change_changed(product_id: [ID!]!): StockChange',
      'Of the catalogue.',
      'amount: Long\n',
      'price: Float\n',
      'place: Place!',
      'state: State\n',
      'any: JSON',
      'rows: [StockChange!]',
    ]) {
      assert.ok(sdl.includes(line), `${line}\n${sdl}`);
    }
  });

  it('is written of samples of JSON', () => {
    const samples = [
      { orderId: 1, total: 5, tags: ['a'], customer: { name: 'Ann', age: 5 }, any: 1, big: 5e12, none: null },
      { orderId: 2, total: 5.5, tags: [], customer: { name: 'Bob' }, any: 'x', big: 1, open: true },
      'no object',
    ];
    const sdl = writeSchema(describeSamples(samples, 'Order'), {
      topic: 'orders',
      arguments: '',
      naming: namingOf('SNAKE'),
    });
    for (const line of [
      'order_changed(order_id: [ID!]!): Order',
      'total: Float!',
      'tags: [String!]!',
      'customer: Customer!',
      'name: String!',
      'age: Int\n',
      'any: JSON!',
      'big: Long!',
      'none: JSON\n',
      'open: Boolean\n',
    ]) {
      assert.ok(sdl.includes(line), `${line}\n${sdl}`);
    }
  });

  it(`of ${SEEDS} random schemas is right: nothing is said against it, and each value can be shown in full`, async (t) => {
    for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
      const random = Random.of(seed, 'described');
      const schema = new RandomSchemas(random).record(3);
      const text = JSON.stringify(schema);
      const sdl = written('AVRO', text, ', format: AVRO, schema: "event.avsc"');
      const folder = await graphFolder(t, { 'schema.graphql': sdl, 'event.avsc': text });
      assert.deepEqual(await checkGraph(folder), [], `seed ${seed}\n${sdl}`);
      const graph = await loadGraph(folder);
      const decode = graph.topics.get('orders')?.decodeValue;
      const bytes = avscType(schema).toBuffer(randomValue(schema, random));
      const event = new SnakeCase().transform(decode?.(bytes) as JsonValue);
      const result = await shown(graph.schema, event);
      const errors = (result.errors ?? []).filter(({ message }) => !/NaN|Infinity/.test(message));
      assert.deepEqual(errors, [], `seed ${seed}\n${sdl}\n${JSON.stringify(event)}`);
    }
  });
});

/** The result of a subscription that selects all fields, some levels deep. */
function shown(schema: GraphQLSchema, event: JsonValue) {
  const field = Object.values(schema.getSubscriptionType()?.getFields() ?? {})[0];
  assert.ok(field !== undefined);
  const args = field.args.length === 0 ? '' : `(${field.args[0]?.name}: [])`;
  const document = parse(`subscription { ${field.name}${args} ${selectionOf(field.type, 5)} }`);
  return execute({ schema, document, rootValue: event });
}

/** @param prefix of the names of fields in the result */
function selectionOf(type: GraphQLOutputType, levels: number, prefix = ''): string {
  const named = getNamedType(type);
  if (isUnionType(named)) {
    // Members may have fields of one name and of several types.
    const members = named
      .getTypes()
      .map((one, index) => `... on ${one.name} ${selectionOf(one, levels, `m${index}_`)}`);
    return `{ __typename ${members.join(' ')} }`;
  }
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields()).flatMap((field) => {
    const inner = getNamedType(field.type);
    const name = prefix === '' ? field.name : `${prefix}${field.name}: ${field.name}`;
    if (isLeafType(inner)) return name;
    return levels > 0 && isCompositeType(inner) ? `${name} ${selectionOf(field.type, levels - 1)}` : [];
  });
  return `{ __typename ${fields.join(' ')} }`;
}

async function saidOf(t: TestContext, sdl: string): Promise<string[]> {
  const folder = await graphFolder(t, {
    'schema.graphql': `type Subscription { order: Order @event(topic: "orders", format: AVRO, schema: "order.avsc") } ${sdl}`,
    'order.avsc': ORDER_AVRO,
  });
  return (await checkGraph(folder)).map(({ severity, message, hint }) => `${severity}: ${message} → ${hint}`);
}

describe('sluice check compares types with a schema of messages', () => {
  const ROWS: readonly (readonly [what: string, sdl: string, ...said: RegExp[]])[] = [
    [
      'what fits',
      'type Order { order_id: ID!, customer_id: ID, status: Status!, total: Float, labels: [E], lines: [Line!] } enum Status { OPEN PAID OTHER } type E { key: String, value: String } type Line { next: Line }',
    ],
    [
      'scalars of the graph’s own',
      'scalar Any type Order { order_id: Any, labels: Any, payment: Any, lines: Any }',
    ],
    [
      'a field that is not there',
      'type Order { amount: Int }',
      /^warning: Order\.amount is always null: Order of order\.avsc has no such field → It has order_id, customer_id/,
    ],
    [
      'a field that may be null',
      'type Order { customer_id: ID! }',
      /Order\.customer_id is ID!, and may be null by order\.avsc → Write ID: null/,
    ],
    [
      'another kind of scalar',
      'type Order { order_id: Boolean }',
      /Order\.order_id is Boolean, and a Long by order\.avsc → Write Long or Float or ID or String\./,
    ],
    ['a long as an Int', 'type Order { order_id: Int }', /Order\.order_id is Int, and a Long/],
    [
      'an object as text',
      'type Order { lines: String }',
      /Order\.lines is String, and a list by order\.avsc → Write a list of an object type, such as Line/,
    ],
    ['a list of another kind', 'type Order { lines: [Int] }', /Order\.lines is Int, and an object/],
    [
      'values of an enum that are missing',
      'type Order { status: Status } enum Status { OPEN }',
      /may be PAID, which Status lacks/,
    ],
    [
      'a map as an object',
      'type Order { labels: E } type E { key: String }',
      /Order\.labels is E, and a map by order\.avsc → Write a list of objects with key and value/,
    ],
    [
      'members of a union that are missing',
      'type Order { payment: Pay } union Pay = Card type Card { number: String }',
      /Cash is no type of Pay/,
    ],
    [
      'fields of members, and of objects within themselves',
      'type Order { payment: Pay, lines: [Line] } union Pay = Card | Cash type Card { x: Int } type Cash { cents: Int } type Line { next: Line, y: Int }',
      /Card\.x is always null/,
      /Line\.y is always null/,
    ],
    ['what comes from elsewhere', 'type Order { tenant: String @from(header: "tenant") }'],
  ];
  for (const [what, sdl, ...said] of ROWS) {
    it(what, async (t) => {
      const found = await saidOf(t, sdl);
      assert.equal(found.length, said.length, found.join('\n'));
      for (const [index, expected] of said.entries()) assert.match(found[index] ?? '', expected);
    });
  }

  it('of the row within a change of Debezium', async (t) => {
    const change = {
      type: 'record',
      name: 'Envelope',
      fields: [
        { name: 'after', type: ['null', JSON.parse(ORDER_AVRO) as object] },
        { name: 'op', type: 'string' },
      ],
    };
    const folder = await graphFolder(t, {
      'schema.graphql': `type Subscription { order: Order @event(topic: "orders", format: AVRO, schema: "order.avsc", envelope: DEBEZIUM) }
        type Order { order_id: ID, amount: Int, operation: String @from(path: "op") }`,
      'order.avsc': JSON.stringify(change),
    });
    assert.deepEqual(
      (await checkGraph(folder)).map(({ message }) => message),
      ['Order.amount is always null: Order of order.avsc has no such field'],
    );
  });
});
