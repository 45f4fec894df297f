import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import protobufjs, { type Type } from 'protobufjs';
import descriptors from 'protobufjs/ext/descriptor.js';
import type { DecodeError } from '../../../src/events/decode-error.ts';
import type { JsonValue } from '../../../src/events/event.ts';
import { snakeCase } from '../../../src/events/snake-case.ts';
import { protobufDecoder } from '../../../src/formats/protobuf.ts';
import {
  ProtobufSchema,
  type MessageChoice,
  type ProtobufFile,
} from '../../../src/formats/protobuf-schema.ts';
import type { LeafKind, Shape } from '../../../src/formats/shape.ts';
import { Random } from '../../helpers/random.ts';
import { RandomFile } from './protobuf-files.ts';

const SEEDS = Number(process.env['SEEDS'] ?? 300);
const FROM = Number(process.env['SEED'] ?? 1);

interface Given {
  readonly files?: readonly ProtobufFile[];
  readonly message?: MessageChoice;
  readonly shape?: Shape;
}

function decoderOf(text: string, { files = [], message = [0], shape }: Given = {}) {
  return protobufDecoder(new ProtobufSchema(text, files).message(message), shape, snakeCase);
}

/** protobufjs's own type, as encoder. */
function typeOf(text: string, name: string): Type {
  const { root } = protobufjs.parse(text, new protobufjs.Root(), { keepCase: true });
  for (const file of ['timestamp', 'duration', 'wrappers', 'struct', 'field_mask']) {
    const common = protobufjs.common.get(`google/protobuf/${file}.proto`);
    if (common?.nested) root.addJSON(common.nested);
  }
  return root.lookupType(name);
}

function encoded(text: string, name: string, value: object): Buffer {
  const type = typeOf(text, name);
  return Buffer.from(type.encode(type.fromObject(value)).finish());
}

/** What Sluice makes of a message, of what protobufjs makes of it: absent fields with presence are null. */
function expectedOf(object: Record<string, unknown>, type: Type): Record<string, unknown> {
  const entries = type.fieldsArray.map((field) => {
    const value = object[field.name];
    const of = (one: unknown): unknown =>
      field.resolvedType instanceof protobufjs.Type
        ? expectedOf(one as Record<string, unknown>, field.resolvedType)
        : typeof one === 'number' && !Number.isFinite(one)
          ? String(one)
          : one;
    if (field.map) {
      const held = Object.entries((value ?? {}) as object).map(([key, one]) => [key, of(one)]);
      return [field.name, Object.fromEntries(held)];
    }
    if (field.repeated) return [field.name, ((value ?? []) as unknown[]).map(of)];
    if (value === undefined || value === null) return [field.name, null];
    return [field.name, of(value)];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function fieldsAs(leaf: LeafKind | undefined, isList = false): Shape {
  const takesNumbers = leaf === 'number' || leaf === 'digits';
  const inner: Shape = { leaf, takesNumbers, isList, field: () => inner };
  return { ...inner, leaf: undefined, takesNumbers: false, isList: false };
}

/** Without the types of Google that the other tests need. */
const onlyOuter = (file: object | undefined) => ({
  ...file,
  messageType: (file as { messageType: { name: string }[] }).messageType.filter(
    ({ name }) => name === 'Outer',
  ),
  syntax: 'proto3',
});

/** Entries of field 4 with as many keys, of four characters. */
const keysOf = (count: number): Buffer =>
  Buffer.concat(
    Array.from({ length: count }, (_, index) =>
      Buffer.from(`\u0022\u0006\u000a\u0004${index.toString(36).padStart(4, '0')}`),
    ),
  );

const ONE = (field: string) => `syntax = "proto3"; message M { ${field} }`;

describe('Protobuf', () => {
  it(`of ${SEEDS} random files and values is decoded as protobufjs decodes it`, () => {
    for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
      const file = new RandomFile(Random.of(seed, 'protobuf'));
      const { text } = file;
      const type = typeOf(text, 'acme.M0');
      const decode = decoderOf(text);
      for (let index = 0; index < 3; index += 1) {
        const bytes = Buffer.from(type.encode(type.fromObject(file.value())).finish());
        const options = {
          longs: Number,
          enums: String,
          bytes: String,
          arrays: true,
          objects: true,
          defaults: true,
        };
        const expected = expectedOf(type.toObject(type.decode(bytes), options), type);
        assert.deepEqual(decode(bytes), JSON.parse(JSON.stringify(expected)), `seed ${seed}`);
      }
    }
  });

  it('is the same by a file that is compiled, as some serializers register it', () => {
    const text = `syntax = "proto3"; package acme; import "google/protobuf/timestamp.proto";
      message Other {} message Order { int64 id = 1; google.protobuf.Timestamp at = 2; Other other = 3; }`;
    const { root } = typeOf(text, 'acme.Order');
    root.resolveAll();
    const file = (root as unknown as { toDescriptor(edition: string): { file: { package: string }[] } })
      .toDescriptor('proto3')
      .file.find((one) => one.package === 'acme');
    const compiled = { ...file, dependency: ['google/protobuf/timestamp.proto'] };
    const base64 = Buffer.from(descriptors.FileDescriptorProto.encode(compiled).finish()).toString('base64');
    const bytes = encoded(text, 'acme.Order', { id: 5, at: { seconds: 1 }, other: {} });
    const expected = { id: 5, at: '1970-01-01T00:00:01Z', other: {} };
    for (const schema of [text, base64]) {
      assert.deepEqual(decoderOf(schema, { message: [1] })(bytes), expected);
      assert.deepEqual(decoderOf(schema, { message: 'acme.Order' })(bytes), expected);
    }
  });

  it('has integers of 64 bits with all digits where the field has them, and rounded where it is a Float', () => {
    const text = ONE('int64 a = 1; uint64 b = 2; sint64 c = 3; fixed64 d = 4; sfixed64 e = 5;');
    const most = {
      a: '-9223372036854775808',
      b: '18446744073709551615',
      c: '-9223372036854775807',
      d: '18446744073709551615',
      e: '9007199254740993',
    };
    const bytes = encoded(text, 'M', most);
    assert.deepEqual(decoderOf(text, { shape: fieldsAs('digits') })(bytes), most);
    const rounded = Object.fromEntries(Object.entries(most).map(([name, digits]) => [name, Number(digits)]));
    assert.deepEqual(decoderOf(text, { shape: fieldsAs('number') })(bytes), rounded);
  });

  it('of a compiled file counts entries of maps as messages, as serializers that register such files do', () => {
    const text = `syntax = "proto3"; message Outer { map<string, int32> m = 1; message A { string a = 1; } message B { string b = 1; } }`;
    const { root } = typeOf(text, 'Outer');
    root.resolveAll();
    const [file] = (root as unknown as { toDescriptor(edition: string): { file: object[] } })
      .toDescriptor('proto3')
      .file.slice(-1);
    const base64 = Buffer.from(descriptors.FileDescriptorProto.encode(onlyOuter(file)).finish()).toString(
      'base64',
    );
    const bytes = Buffer.from([0x0a, 1, 0x78]);
    assert.deepEqual(decoderOf(text, { message: [0, 0] })(bytes), { a: 'x' });
    assert.deepEqual(decoderOf(base64, { message: [0, 1] })(bytes), { a: 'x' });
  });

  it('has one field of a oneof, however many it has and however often they come', () => {
    const fields = Array.from({ length: 1_000 }, (_, index) => `int32 f${index} = ${index + 1};`).join(' ');
    const decode = decoderOf(ONE(`oneof o { ${fields} }`));
    const message = decode(Buffer.from('08010802'.repeat(50_000) + '1003', 'hex')) as Record<string, unknown>;
    assert.deepEqual(
      Object.entries(message).filter(([, value]) => value !== null),
      [['f1', 3]],
    );
  });

  const KNOWN: readonly (readonly [
    what: string,
    field: string,
    file: string,
    value: unknown,
    expected: JsonValue,
  ])[] = [
    [
      'a time',
      'google.protobuf.Timestamp a = 1;',
      'timestamp',
      { seconds: -1, nanos: 120_000_000 },
      '1969-12-31T23:59:59.120Z',
    ],
    [
      'a time in ns',
      'google.protobuf.Timestamp a = 1;',
      'timestamp',
      { seconds: 1, nanos: 1 },
      '1970-01-01T00:00:01.000000001Z',
    ],
    [
      'a duration',
      'google.protobuf.Duration a = 1;',
      'duration',
      { seconds: -1, nanos: -500_000_000 },
      '-1.500s',
    ],
    ['a wrapped number', 'google.protobuf.Int32Value a = 1;', 'wrappers', { value: 5 }, 5],
    ['a wrapped default', 'google.protobuf.StringValue a = 1;', 'wrappers', {}, ''],
    ['a field mask', 'google.protobuf.FieldMask a = 1;', 'field_mask', { paths: ['a', 'b.c'] }, 'a,b.c'],
    [
      'a struct',
      'google.protobuf.Struct a = 1;',
      'struct',
      {
        fields: {
          x: {
            listValue: {
              values: [{ numberValue: 1 }, { boolValue: true }, { nullValue: 0 }, { stringValue: 's' }],
            },
          },
          y: { structValue: { fields: {} } },
        },
      },
      { x: [1, true, null, 's'], y: {} },
    ],
    [
      'a list of times',
      'repeated google.protobuf.Timestamp a = 1;',
      'timestamp',
      [{ seconds: 0 }, { seconds: 60 }],
      ['1970-01-01T00:00:00Z', '1970-01-01T00:01:00Z'],
    ],
  ];
  for (const [what, field, file, value, expected] of KNOWN) {
    it(`has ${what} as JSON has it`, () => {
      const text = `syntax = "proto3"; import "google/protobuf/${file}.proto"; message M { ${field} }`;
      assert.deepEqual(decoderOf(text)(encoded(text, 'M', { a: value })), { a: expected });
    });
  }

  it('has null for what is absent and has presence, and its default for what has none', () => {
    const text = `syntax = "proto3"; import "google/protobuf/wrappers.proto"; enum E { X = 0; Y = 1; }
      message M { int32 a = 1; optional int32 b = 2; M c = 3; repeated int32 d = 4; map<string, int32> e = 5; E f = 6;
        oneof g { string h = 7; bool i = 8; } google.protobuf.Int32Value j = 9; bytes k = 10; }`;
    const absent = { a: 0, b: null, c: null, d: [], e: {}, f: 'X', h: null, i: null, j: null, k: '' };
    assert.deepEqual(decoderOf(text)(Buffer.alloc(0)), absent);
  });

  it('of proto2 has the defaults that the file gives, and groups', () => {
    const text = `syntax = "proto2"; enum E { X = 3; Y = 4; }
      message M { optional int32 a = 1 [default = 7]; optional string b = 2 [default = "x"]; optional E c = 3 [default = Y];
        optional int32 d = 4; optional bool e = 5 [default = true]; repeated group Row = 6 { optional int32 n = 1; } }`;
    const decode = decoderOf(text);
    const absent = { a: 7, b: 'x', c: 'Y', d: null, e: true, row: [] };
    assert.deepEqual(decode(Buffer.alloc(0)), absent);
    // Two groups of field 6: the tags 6 << 3 | 3 and 6 << 3 | 4 around field 1.
    assert.deepEqual(decode(Buffer.from([0x33, 0x08, 0x05, 0x34, 0x33, 0x34])), {
      ...absent,
      row: [{ n: 5 }, { n: null }],
    });
  });

  it('merges a message that comes in parts, takes the last value, and the last of a oneof', () => {
    const text = ONE('M a = 1; int32 b = 2; int32 c = 3; oneof d { int32 e = 4; M f = 5; }');
    const bytes = Buffer.from([0x0a, 2, 0x10, 5, 0x0a, 2, 0x18, 6, 0x10, 1, 0x10, 2, 0x20, 9, 0x2a, 0]);
    const none = { a: null, b: 0, c: 0, e: null, f: null };
    assert.deepEqual(decoderOf(text)(bytes), { ...none, a: { ...none, b: 5, c: 6 }, b: 2, f: none });
  });

  it('passes over fields that the schema does not have, of each wire type', () => {
    const unknown = Buffer.from([
      0x78, 1, 0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x7a, 2, 1, 2, 0x7b, 0x08, 1, 0x7c, 0x7d, 1, 2, 3, 4, 0x08, 5,
    ]);
    assert.deepEqual(decoderOf(ONE('int32 a = 1;'))(unknown), { a: 5 });
  });

  it('has an unknown value of an enum as the number that it is', () => {
    assert.deepEqual(
      decoderOf(`syntax = "proto3"; enum E { X = 0; } message M { E a = 1; }`)(Buffer.from([8, 9])),
      { a: 9 },
    );
  });

  it('has a map as a list of entries where the schema has a list of objects', () => {
    const text = ONE('map<int64, string> a = 1;');
    const bytes = encoded(text, 'M', { a: { 5: 'x' } });
    const key = fieldsAs('digits').field('key');
    const entries: Shape = { leaf: undefined, takesNumbers: false, isList: true, field: () => key };
    const shape: Shape = { ...entries, isList: false, field: () => entries };
    assert.deepEqual(decoderOf(text, { shape })(bytes), { a: [{ key: '5', value: 'x' }] });
    assert.deepEqual(decoderOf(text)(bytes), { a: { 5: 'x' } });
  });

  it('finds the types of imported files, and counts the messages of its own', () => {
    const text = `syntax = "proto3"; package acme; import "common.proto"; message A { message B {} message C { Money m = 1; } }`;
    const files = [
      { name: 'common.proto', text: 'syntax = "proto3"; package acme; message Money { int32 cents = 1; }' },
    ];
    const bytes = Buffer.from([0x0a, 2, 8, 7]);
    assert.deepEqual(decoderOf(text, { files, message: [0, 1] })(bytes), { m: { cents: 7 } });
    assert.throws(
      () => decoderOf(text, { files, message: [1] }),
      /expected message 1 of the file, got fewer/,
    );
  });

  it('needs no imports whose types no field has, such as those of options, and knows those that nobody registers', () => {
    const text = `syntax = "proto3"; import "google/protobuf/descriptor.proto"; import "buf/validate/validate.proto";
      import "google/type/money.proto"; import "confluent/meta.proto"; import "confluent/type/decimal.proto";
      extend google.protobuf.FieldOptions { string note = 50000; }
      message M { option (confluent.message_meta).doc = "x"; google.type.Money a = 1 [(note) = "x", (buf.validate.field).required = true];
        confluent.type.Decimal b = 2; }`;
    const money = { currency_code: 'EUR', units: 0, nanos: 0 };
    const bytes = Buffer.from('0a050a0345555212020802'.slice(0, 14), 'hex');
    assert.deepEqual(decoderOf(text)(bytes), { a: money, b: null });
  });

  const WIDE = `syntax = "proto3"; message M { repeated M m = 999; ${Array.from({ length: 500 }, (_, index) => `int32 f${index} = ${index + 1};`).join(' ')} }`;

  it('refuses small messages of types with many fields before they fill the memory', () => {
    const bytes = Buffer.from('ba3e00'.repeat(49_000), 'hex');
    assert.throws(() => decoderOf(WIDE)(bytes), { reason: 'too_large' });
  });

  const BAD: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ['no .proto file', 'message M { int32 a = ', /expected a \.proto file/],
    [
      'a type of an import that is missing',
      'syntax = "proto3"; import "x.proto"; message M { x.Y a = 1; }',
      /x\.Y/,
    ],
    ['an unknown type', ONE('Missing a = 1;'), /Missing/],
    ['no message', 'syntax = "proto3";', /expected message 0 of the file/],
    [
      'a message of thousands of fields',
      `message M { ${Array.from({ length: 3_000 }, (_, index) => `int32 f${index} = ${index + 1};`).join(' ')} }`,
      /at most 2000 fields/,
    ],
    ['base64 of nothing', 'abcd', /expected/],
  ];
  for (const [what, text, message] of BAD) {
    it(`reports ${what} in a schema`, () => {
      assert.throws(() => decoderOf(text), message);
    });
  }

  const text = ONE(
    'M a = 1; repeated M b = 2; string c = 3; map<string, int32> d = 4; repeated int32 e = 5; int32 f = 6;',
  );
  const nested = Array.from({ length: 300 }).reduce<Buffer>((bytes) => {
    const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
    return Buffer.concat([Buffer.from([0x0a, ...length]), bytes]);
  }, Buffer.alloc(0));
  const HOSTILE: readonly (readonly [what: string, bytes: Buffer, reason: string])[] = [
    ['500,000 empty messages', Buffer.from('1200'.repeat(500_000), 'hex'), 'too_large'],
    ['300 levels', nested, 'too_deep'],
    ['groups within groups', Buffer.alloc(1_000_000, 0x7b), 'too_deep'],
    ['a text of 2^31 bytes', Buffer.from('1a8080808008', 'hex'), 'malformed'],
    ['a length beyond its message', Buffer.from([0x0a, 2, 0x1a, 50, 1, 1]), 'malformed'],
    ['a tag without end', Buffer.alloc(50, 0xff), 'malformed'],
    ['another wire type', Buffer.from([0x35, 1, 2, 3, 4]), 'malformed'],
    ['the end of no group', Buffer.from([0x0c]), 'malformed'],
    ['wire type 7', Buffer.from([0x7f]), 'malformed'],
    ['text that is no UTF-8', Buffer.from([0x1a, 1, 0xff]), 'invalid_utf8'],
    ['50,000 different keys of a map', keysOf(50_000), 'too_large'],
    ['a value of a map of another wire type', Buffer.from([0x22, 5, 0x0a, 1, 0x61, 0x12, 0]), 'malformed'],
    [
      'a key that would change a prototype',
      Buffer.from('\u0022\u000b\u000a\u0009__proto__'),
      'forbidden_key',
    ],
  ];
  for (const [what, bytes, reason] of HOSTILE) {
    it(`refuses ${what}, at once`, () => {
      const decode = decoderOf(text);
      assert.throws(
        () => decode(bytes),
        (error: DecodeError) => error.reason === reason,
      );
    });
  }
});
