import avsc from 'avsc';
import protobufjs from 'protobufjs';
import { SnakeCase } from '../../../src/events/snake-case.ts';
import type { JsonValue } from '../../../src/events/event.ts';
import type { Shape } from '../../../src/formats/shape.ts';
import { Codec } from '../../../src/ingest/schemas/codec.ts';
import type { FormatName } from '../../../src/graph/graph.ts';
import type { Case, Variant } from '../bench.ts';

interface Line {
  readonly productId: number;
  readonly title: string;
  readonly unitPrice: number;
  readonly amount: number;
}

interface Order {
  readonly orderId: number;
  readonly customerName: string;
  readonly isOpen: boolean;
  readonly totalPrice: number;
  readonly changedAt: number;
  readonly status: string;
  readonly lines: readonly Line[];
}

const AVRO = {
  type: 'record',
  name: 'Order',
  fields: [
    { name: 'orderId', type: 'long' },
    { name: 'customerName', type: 'string' },
    { name: 'isOpen', type: 'boolean' },
    { name: 'totalPrice', type: 'double' },
    { name: 'changedAt', type: 'long' },
    { name: 'status', type: 'string' },
    {
      name: 'lines',
      type: {
        type: 'array',
        items: {
          type: 'record',
          name: 'Line',
          fields: [
            { name: 'productId', type: 'int' },
            { name: 'title', type: 'string' },
            { name: 'unitPrice', type: 'double' },
            { name: 'amount', type: 'int' },
          ],
        },
      },
    },
  ],
} as const;

const PROTOBUF = `syntax = "proto3";
message Order { int64 orderId = 1; string customerName = 2; bool isOpen = 3; double totalPrice = 4; int64 changedAt = 5;
  string status = 6; repeated Line lines = 7; }
message Line { int32 productId = 1; string title = 2; double unitPrice = 3; int32 amount = 4; }`;

const avroType = avsc.Type.forSchema(AVRO as never);
const protobufType = protobufjs.parse(PROTOBUF, { keepCase: true }).root.lookupType('Order');

function orderOf(lines: number): Order {
  return {
    orderId: 1_234_567,
    customerName: 'Ada Lovelace',
    isOpen: true,
    totalPrice: 129.95,
    changedAt: 1_700_000_000_123,
    status: 'PACKED',
    lines: Array.from({ length: lines }, (_, index) => ({
      productId: 4_711 + index,
      title: `A product, number ${index}, in a box`,
      unitPrice: 12.5 + index,
      amount: index + 1,
    })),
  };
}

/** The id of a schema before a value. */
const framed = (...bytes: Uint8Array[]): Buffer => Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), ...bytes]);

/** The schema says numbers of all fields. */
const NUMBERS: Shape = { leaf: 'number', takesNumbers: true, isList: false, field: () => undefined };
const EVENTS: Shape = {
  leaf: undefined,
  takesNumbers: false,
  isList: false,
  field: (name) => (name === 'lines' ? EVENTS : NUMBERS),
};

const schemas = {
  schema: async () => ({ type: '', text: '', references: [] }),
};

/** Decodes and renames, as for each event. */
async function decoding(name: string, format: FormatName, bytes: Buffer, shape?: Shape): Promise<Variant> {
  const snakeCase = new SnakeCase();
  const text = format === 'AVRO' ? JSON.stringify(AVRO) : PROTOBUF;
  const codec = new Codec({
    format,
    decode: undefined,
    part: 'value',
    shape,
    naming: (field) => snakeCase.name(field),
    schemas: { schema: async () => ({ ...(await schemas.schema()), text }) },
  });
  const headers = { headers: undefined };
  // Its schema is known from then on.
  await codec.decode(bytes, headers);
  const one = (): JsonValue => snakeCase.transform(codec.decode(bytes, headers) as JsonValue);
  return variantOf(name, one);
}

function variantOf(name: string, one: () => unknown): Variant {
  return {
    name,
    sample: () => JSON.parse(JSON.stringify(one())) as unknown,
    ready: (operations) => () => {
      let objects = 0;
      for (let index = 0; index < operations; index += 1) objects += typeof one() === 'object' ? 1 : 0;
      return objects;
    },
  };
}

function caseOf(lines: number): Case {
  const order = orderOf(lines);
  const json = Buffer.from(JSON.stringify(order));
  const avro = framed(avroType.toBuffer(order));
  const protobuf = framed(Buffer.from([0]), protobufType.encode(protobufType.fromObject(order)).finish());
  return {
    name: `decoding an event of ${json.length} bytes as JSON, ${avro.length} as Avro, ${protobuf.length} as Protobuf`,
    unit: 'event',
    open: async () => {
      const snakeCase = new SnakeCase();
      return {
        variants: [
          await decoding('JSON', 'JSON', json),
          await decoding('JSON with Long somewhere', 'JSON', json, EVENTS),
          await decoding('JSON Schema', 'JSON_SCHEMA', framed(json)),
          await decoding('Avro', 'AVRO', avro, EVENTS),
          await decoding('Protobuf', 'PROTOBUF', protobuf, EVENTS),
          variantOf('Avro by avsc', () =>
            snakeCase.transform({ ...avroType.fromBuffer(avro.subarray(5)) } as JsonValue),
          ),
          variantOf('Protobuf by protobufjs', () =>
            snakeCase.transform(
              protobufType.toObject(protobufType.decode(protobuf.subarray(6)), {
                longs: Number,
                defaults: true,
              }) as JsonValue,
            ),
          ),
        ],
      };
    },
  };
}

/** From the bytes of a message to an event with the schema's names. */
export const cases: readonly Case[] = [caseOf(1), caseOf(20)];
