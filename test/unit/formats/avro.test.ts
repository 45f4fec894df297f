import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DecodeError } from '../../../src/events/decode-error.ts';
import { snakeCase } from '../../../src/events/snake-case.ts';
import { avroDecoder } from '../../../src/formats/avro.ts';
import type { LeafKind, Shape } from '../../../src/formats/shape.ts';
import { Random } from '../../helpers/random.ts';
import { avscType, expectedOf, RandomSchemas, randomValue } from './avro-schemas.ts';

const SEEDS = Number(process.env['SEEDS'] ?? 300);
const FROM = Number(process.env['SEED'] ?? 1);

/** The shape of one object whose fields are all alike. */
function shapeOf(leaf: LeafKind | undefined, isList = false): Shape {
  const takesNumbers = leaf === 'number' || leaf === 'digits';
  const inner: Shape = { leaf, takesNumbers, isList, field: () => inner };
  return { ...inner, leaf: undefined, takesNumbers: false, isList: false };
}

function decodeOne(schema: object, value: unknown, shape?: Shape): unknown {
  const type = avscType(schema as never);
  return avroDecoder(JSON.stringify(schema), [], shape, snakeCase)(type.toBuffer(value));
}

const recordOf = (type: unknown) => ({ type: 'record', name: 'R', fields: [{ name: 'a', type }] });

describe('Avro', () => {
  it(`of ${SEEDS} random schemas and values is decoded as avsc decodes it`, () => {
    for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
      const random = Random.of(seed, 'avro');
      const schema = new RandomSchemas(random).record(4);
      const type = avscType(schema);
      const decode = avroDecoder(JSON.stringify(schema), [], undefined, snakeCase);
      for (let index = 0; index < 3; index += 1) {
        const bytes = type.toBuffer(randomValue(schema, random));
        const expected = expectedOf(type.fromBuffer(bytes), schema, new Map());
        assert.deepEqual(
          JSON.parse(JSON.stringify(decode(bytes))),
          JSON.parse(JSON.stringify(expected)),
          `seed ${seed}`,
        );
      }
    }
  });

  const ROWS: readonly (readonly [
    what: string,
    type: unknown,
    value: unknown,
    leaf: LeafKind,
    expected: unknown,
  ])[] = [
    ['a long for Long', 'long', 5, 'digits', '5'],
    ['a long for ID', 'long', 5, 'text', '5'],
    ['a long for Float', 'long', 5, 'number', 5],
    ['a double for Decimal', 'double', 0.1, 'digits', '0.1'],
    ['NaN', 'double', NaN, 'number', 'NaN'],
    ['an infinite float', 'float', -Infinity, 'number', '-Infinity'],
    [
      'a decimal for Decimal',
      { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 },
      Buffer.from([0xff, 0x38]),
      'digits',
      '-2.00',
    ],
    [
      'a decimal for Float',
      { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 3 },
      Buffer.from([1, 0]),
      'number',
      0.256,
    ],
    [
      'a decimal without digits',
      { type: 'bytes', logicalType: 'decimal', precision: 9 },
      Buffer.alloc(0),
      'text',
      '0',
    ],
    ['a day', { type: 'int', logicalType: 'date' }, -1, 'text', '1969-12-31'],
    ['a day for Int', { type: 'int', logicalType: 'date' }, 20_787, 'number', 20_787],
    ['a time of day', { type: 'int', logicalType: 'time-millis' }, 3_723_004, 'other', '01:02:03.004'],
    ['a time of day in µs', { type: 'long', logicalType: 'time-micros' }, 1, 'text', '00:00:00.000001'],
    [
      'a time in ms',
      { type: 'long', logicalType: 'timestamp-millis' },
      -1,
      'text',
      '1969-12-31T23:59:59.999Z',
    ],
    [
      'a time in µs',
      { type: 'long', logicalType: 'timestamp-micros' },
      1_000_001,
      'text',
      '1970-01-01T00:00:01.000001Z',
    ],
    [
      'a time in ns',
      { type: 'long', logicalType: 'timestamp-nanos' },
      1,
      'text',
      '1970-01-01T00:00:00.000000001Z',
    ],
    [
      'a local time',
      { type: 'long', logicalType: 'local-timestamp-millis' },
      0,
      'text',
      '1970-01-01T00:00:00.000',
    ],
    [
      'a time that no calendar has',
      { type: 'long', logicalType: 'timestamp-millis' },
      9e15,
      'text',
      '9000000000000000',
    ],
    ['a time for Long', { type: 'long', logicalType: 'timestamp-millis' }, 7, 'digits', '7'],
    [
      'a UUID',
      { type: 'fixed', name: 'U', size: 16, logicalType: 'uuid' },
      Buffer.from('00112233445566778899aabbccddeeff', 'hex'),
      'text',
      '00112233-4455-6677-8899-aabbccddeeff',
    ],
    [
      'a duration',
      { type: 'fixed', name: 'D', size: 12, logicalType: 'duration' },
      Buffer.from('010000000200000003000000', 'hex'),
      'text',
      'P1M2DT0.003S',
    ],
    ['a map for a JSON scalar', { type: 'map', values: 'long' }, { a: 1 }, 'other', { a: 1 }],
  ];
  for (const [what, type, value, leaf, expected] of ROWS) {
    it(`has ${what} by the table of types`, () => {
      assert.deepEqual(decodeOne(recordOf(type), { a: value }, shapeOf(leaf)), { a: expected });
    });
  }

  it('has integers of 64 bits with all digits where the field has them, and rounded where it is a Float', () => {
    const bytes = Buffer.from('ffffffffffffffffff01', 'hex');
    const decode = (leaf: LeafKind) =>
      avroDecoder(JSON.stringify(recordOf('long')), [], shapeOf(leaf), snakeCase)(bytes);
    assert.deepEqual(decode('digits'), { a: '-9223372036854775808' });
    assert.deepEqual(decode('number'), { a: -9223372036854775808 });
  });

  it('has a map as a list of entries where the schema has a list of objects', () => {
    const entries = decodeOne(
      recordOf({ type: 'map', values: 'string' }),
      { a: { x: 'y' } },
      shapeOf(undefined, true),
    );
    assert.deepEqual(entries, { a: [{ key: 'x', value: 'y' }] });
  });

  it('finds names in namespaces, of references and of itself', () => {
    const money = {
      type: 'record',
      name: 'Money',
      namespace: 'acme.types',
      fields: [{ name: 'cents', type: 'int' }],
    };
    const order = {
      type: 'record',
      name: 'acme.Order',
      fields: [
        { name: 'total', type: 'acme.types.Money' },
        {
          name: 'line',
          type: { type: 'record', name: 'Line', fields: [{ name: 'next', type: ['null', 'Line'] }] },
        },
        { name: 'last', type: 'acme.Line' },
      ],
    };
    const decode = avroDecoder(JSON.stringify(order), [JSON.stringify(money)], undefined, snakeCase);
    assert.deepEqual(decode(Buffer.from([4, 2, 0, 0])), {
      total: { cents: 2 },
      line: { next: { next: null } },
      last: { next: null },
    });
  });

  const BAD: readonly (readonly [what: string, schema: unknown, message: RegExp])[] = [
    ['no JSON', 'nonsense', /expected a schema as JSON/],
    [
      'an enormous scale',
      recordOf({ type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2e8 }),
      /scale of at most 1000/,
    ],
    ['an unknown name', recordOf('Missing'), /defined before, got Missing/],
    ['no type', {}, /expected a type, got undefined/],
    ['a record without fields', { type: 'record', name: 'R' }, /expected fields, got undefined/],
    ['a record without a name', { type: 'record', fields: [] }, /expected a name/],
    [
      'a field that would change a prototype',
      { type: 'record', name: 'R', fields: [{ name: '__proto__', type: 'int' }] },
      /__proto__/,
    ],
  ];
  for (const [what, schema, message] of BAD) {
    it(`reports ${what} in a schema`, () => {
      const text = typeof schema === 'string' ? schema : JSON.stringify(schema);
      assert.throws(() => avroDecoder(text, [], undefined, snakeCase), message);
    });
  }

  const NULLS = {
    type: 'record',
    name: 'E',
    fields: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => ({ name, type: 'null' })),
  };
  const list = { type: 'array', items: 'null' };
  const nested = { type: 'record', name: 'N', fields: [{ name: 'n', type: ['null', 'N'] }] };
  const HOSTILE: readonly (readonly [what: string, schema: unknown, bytes: Buffer, reason: string])[] = [
    ['2^31 items that take no bytes', recordOf(list), Buffer.from('808080801000', 'hex'), 'too_large'],
    [
      '2^63 items',
      recordOf({ type: 'array', items: 'long' }),
      Buffer.from('ffffffffffffffffff01', 'hex'),
      'malformed',
    ],
    [
      '2^31 records without fields',
      recordOf({ type: 'array', items: { type: 'record', name: 'E', fields: [] } }),
      Buffer.from('808080801000', 'hex'),
      'too_large',
    ],
    ['a text of 2^31 bytes', recordOf('string'), Buffer.from('808080801061', 'hex'), 'malformed'],
    ['a text of a negative length', recordOf('string'), Buffer.from([1]), 'malformed'],
    ['a million levels', nested, Buffer.alloc(1_000_000, 2), 'too_deep'],
    ['a number without end', recordOf('long'), Buffer.alloc(100, 0xff), 'malformed'],
    ['nothing', recordOf('long'), Buffer.alloc(0), 'malformed'],
    ['bytes behind the value', recordOf('long'), Buffer.from([2, 2]), 'malformed'],
    ['an unknown branch', recordOf(['null', 'int']), Buffer.from([8]), 'malformed'],
    [
      'an unknown symbol',
      recordOf({ type: 'enum', name: 'E', symbols: ['A'] }),
      Buffer.from([2]),
      'malformed',
    ],
    [
      'a decimal of a megabyte',
      recordOf({ type: 'bytes', logicalType: 'decimal', precision: 9 }),
      Buffer.concat([Buffer.from('8089 7a'.replace(' ', ''), 'hex'), Buffer.alloc(1_000_000, 0x55)]),
      'malformed',
    ],
    [
      'a million entries',
      recordOf({ type: 'map', values: 'null' }),
      Buffer.concat([Buffer.from('80897a', 'hex'), Buffer.alloc(1_000_000)]),
      'too_large',
    ],
    [
      'a million records of fields that take no bytes',
      recordOf({ type: 'array', items: NULLS }),
      Buffer.from('80897a00', 'hex'),
      'too_large',
    ],
    ['text that is no UTF-8', recordOf('string'), Buffer.from([4, 0xff, 0xfe]), 'invalid_utf8'],
    [
      'a key that would change a prototype',
      recordOf({ type: 'map', values: 'int' }),
      Buffer.from(`\u0002\u0012__proto__\u0002\u0000`),
      'forbidden_key',
    ],
  ];
  for (const [what, schema, bytes, reason] of HOSTILE) {
    it(`refuses ${what}, at once`, () => {
      const decode = avroDecoder(JSON.stringify(schema), [], undefined, snakeCase);
      assert.throws(
        () => decode(bytes),
        (error: DecodeError) => error.reason === reason,
      );
    });
  }

  it('that is cut anywhere is refused, and never read as something else that goes on', () => {
    for (let seed = FROM; seed < FROM + 50; seed += 1) {
      const random = Random.of(seed, 'cut');
      const schema = new RandomSchemas(random).record(3);
      const type = avscType(schema);
      const bytes = type.toBuffer(randomValue(schema, random));
      const decode = avroDecoder(JSON.stringify(schema), [], undefined, snakeCase);
      for (let end = 0; end < Math.min(bytes.length, 100); end += 1) {
        assert.throws(
          () => decode(bytes.subarray(0, end)),
          { name: 'DecodeError' },
          `seed ${seed}, ${end} bytes`,
        );
      }
    }
  });
});
