import { checkKey } from '../events/safe-keys.ts';
import type { JsonValue } from '../events/event.ts';
import { instant, realAs } from './conversions.ts';
import type { Cursor } from './cursor.ts';
import {
  expect,
  FIXED_WIRES,
  LENGTH,
  limited,
  scalar,
  skip,
  VARINT,
  zeroOf,
  type Read,
} from './protobuf-wire.ts';
import type { Shape } from './shape.ts';

/** Reads a message of which JSON has a form of its own, up to its end. */
type WellKnown = (cursor: Cursor, shape: Shape | undefined) => JsonValue;

/** Wrapped scalars are what they wrap, or null. */
const WRAPPED: Readonly<Record<string, string>> = {
  DoubleValue: 'double',
  FloatValue: 'float',
  Int64Value: 'int64',
  UInt64Value: 'uint64',
  Int32Value: 'int32',
  UInt32Value: 'uint32',
  BoolValue: 'bool',
  StringValue: 'string',
  BytesValue: 'bytes',
};

/** By full name, with a dot before it. */
export const WELL_KNOWN: ReadonlyMap<string, WellKnown> = new Map<string, WellKnown>([
  ...Object.entries(WRAPPED).map(([name, type]): [string, WellKnown] => [
    `.google.protobuf.${name}`,
    (cursor, shape) => {
      const field = { wire: FIXED_WIRES[type] ?? VARINT, read: scalar(type, shape) };
      return fieldsIn(cursor, [field])[0] ?? zeroOf(type, shape);
    },
  ]),
  ['.google.protobuf.Timestamp', timestamp],
  ['.google.protobuf.Duration', duration],
  ['.google.protobuf.Struct', struct],
  ['.google.protobuf.Value', anyValue],
  ['.google.protobuf.ListValue', listValue],
  ['.google.protobuf.FieldMask', fieldMask],
]);

interface KnownField {
  readonly wire: number;
  readonly read: Read;
}

/** Reads fields 1, 2, … of a message. */
function fieldsIn(cursor: Cursor, reads: readonly KnownField[]): (JsonValue | undefined)[] {
  const values: (JsonValue | undefined)[] = [];
  eachField(cursor, (id, wire) => {
    const field = reads[id - 1];
    if (field === undefined) {
      skip(cursor, wire, id);
      return;
    }
    expect(wire, field.wire, String(id));
    values[id - 1] = field.read(cursor);
  });
  return values;
}

function eachField(cursor: Cursor, take: (id: number, wire: number) => void): void {
  cursor.countPart();
  cursor.enter();
  while (!cursor.isAtEnd) {
    const tag = cursor.varint();
    take(Math.floor(tag / 8), tag & 7);
  }
  cursor.leave();
}

const SECONDS_AND_NANOS: readonly KnownField[] = [
  { wire: VARINT, read: (cursor) => Number(cursor.signedVarint()) },
  { wire: VARINT, read: (cursor) => cursor.varint32() },
];

/** The seconds that JSON may have for a point in time: the years 1 to 9999. */
const [FIRST_SECOND, LAST_SECOND] = [-62_135_596_800, 253_402_300_799];

function timestamp(cursor: Cursor): JsonValue {
  const [seconds = 0, nanos = 0] = fieldsIn(cursor, SECONDS_AND_NANOS) as number[];
  const isTime = seconds >= FIRST_SECOND && seconds <= LAST_SECOND && nanos >= 0 && nanos <= 999_999_999;
  if (!isTime) return `${seconds} s and ${nanos} ns since 1970`;
  return instant(seconds, fractionOf(nanos), 'Z');
}

function duration(cursor: Cursor): JsonValue {
  const [seconds = 0, nanos = 0] = fieldsIn(cursor, SECONDS_AND_NANOS) as number[];
  const sign = seconds < 0 || nanos < 0 ? '-' : '';
  const fraction = fractionOf(Math.abs(nanos));
  return `${sign}${Math.abs(seconds)}${fraction === '' ? '' : `.${fraction}`}s`;
}

/** None, three, six or nine digits, as JSON has them. */
function fractionOf(nanos: number): string {
  return nanos === 0
    ? ''
    : String(nanos)
        .padStart(9, '0')
        .replace(/(?:000){1,2}$/, '');
}

function fieldMask(cursor: Cursor): JsonValue {
  const paths: string[] = [];
  eachField(cursor, (id, wire) => {
    if (id === 1) paths.push(cursor.text(cursor.varint()));
    else skip(cursor, wire, id);
  });
  return paths.join(',');
}

const KEY_AND_VALUE: readonly KnownField[] = [
  { wire: LENGTH, read: (cursor) => cursor.text(cursor.varint()) },
  { wire: LENGTH, read: (cursor) => limited(cursor, () => anyValue(cursor)) },
];

function struct(cursor: Cursor): JsonValue {
  const object: Record<string, JsonValue> = {};
  eachField(cursor, (id, wire) => {
    if (id !== 1) {
      skip(cursor, wire, id);
      return;
    }
    limited(cursor, () => {
      const [key = '', value = null] = fieldsIn(cursor, KEY_AND_VALUE);
      cursor.countKey(String(key));
      checkKey(String(key), value);
      object[String(key)] = value;
    });
  });
  return object;
}

function anyValue(cursor: Cursor): JsonValue {
  let value: JsonValue = null;
  eachField(cursor, (id, wire) => {
    if (id === 2) value = realAs(undefined, cursor.double());
    else if (id === 3) value = cursor.text(cursor.varint());
    else if (id === 4) value = Number(cursor.unsignedVarint()) !== 0;
    else if (id === 5) value = limited(cursor, () => struct(cursor));
    else if (id === 6) value = limited(cursor, () => listValue(cursor));
    else skip(cursor, wire, id);
  });
  return value;
}

function listValue(cursor: Cursor): JsonValue {
  const list: JsonValue[] = [];
  eachField(cursor, (id, wire) => {
    if (id === 1) list.push(limited(cursor, () => anyValue(cursor)));
    else skip(cursor, wire, id);
  });
  return list;
}
