import type { AvroField, AvroRecord, AvroType } from './avro-schema.ts';
import { scalarOf, type Described, type DescribedObject, type DescribedValue } from './described.ts';

export function describeAvro(type: AvroType): DescribedValue {
  switch (type.kind) {
    case 'record':
      return given(describeRecord(type));
    case 'enum':
      return given({ kind: 'enum', name: type.name, definition: type, values: type.symbols, doc: type.doc });
    case 'array':
      return given({ kind: 'list', of: describeAvro(type.items) });
    case 'map':
      return given({ kind: 'map', of: describeAvro(type.items) });
    case 'union': {
      const types = type.types.filter(({ kind }) => kind !== 'null');
      return { type: describeUnion(types), isNullable: types.length < type.types.length };
    }
    case 'null':
      return { type: scalarOf('JSON'), isNullable: true };
    case 'boolean':
      return given(scalarOf('Boolean'));
    case 'int':
    case 'long':
      return given(scalarOf(type.logical === undefined ? (type.kind === 'int' ? 'Int' : 'Long') : 'String'));
    case 'float':
    case 'double':
      return given(scalarOf('Float'));
    default:
      return given(scalarOf(type.logical === 'decimal' ? 'Decimal' : 'String'));
  }
}

function given(type: Described): DescribedValue {
  return { type, isNullable: false };
}

function describeUnion(types: readonly AvroType[]): Described {
  const [only] = types;
  if (types.length === 1 && only !== undefined) return describeAvro(only).type;
  const records = types.filter((type): type is AvroRecord => type.kind === 'record');
  return records.length === types.length && records.length > 0
    ? { kind: 'union', members: records.map(describeRecord) }
    : scalarOf('JSON');
}

function describeRecord(record: AvroRecord): DescribedObject {
  const { name, doc, fields } = record;
  return { kind: 'object', name, definition: record, doc, fields: () => fields.map(describeField) };
}

function describeField({ name, type, doc }: AvroField) {
  return { name, doc, ...describeAvro(type) };
}
