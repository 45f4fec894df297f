import {
  scalarOf,
  type Described,
  type DescribedField,
  type DescribedObject,
  type DescribedScalar,
} from './described.ts';
import { isEnum, type ProtobufField, type ProtobufMessage } from './protobuf-schema.ts';

const SCALARS: Readonly<Record<string, DescribedScalar>> = {
  double: 'Float',
  float: 'Float',
  int32: 'Int',
  sint32: 'Int',
  sfixed32: 'Int',
  // Beyond GraphQL's Int.
  uint32: 'Long',
  fixed32: 'Long',
  int64: 'Long',
  uint64: 'Long',
  sint64: 'Long',
  fixed64: 'Long',
  sfixed64: 'Long',
  bool: 'Boolean',
};

/** Google's own types, of which JSON has a form. */
const WELL_KNOWN: Readonly<Record<string, DescribedScalar>> = {
  DoubleValue: 'Float',
  FloatValue: 'Float',
  Int64Value: 'Long',
  UInt64Value: 'Long',
  Int32Value: 'Int',
  UInt32Value: 'Long',
  BoolValue: 'Boolean',
  StringValue: 'String',
  BytesValue: 'String',
  Timestamp: 'String',
  Duration: 'String',
  FieldMask: 'String',
  Struct: 'JSON',
  Value: 'JSON',
  ListValue: 'JSON',
};

export function describeProtobuf(message: ProtobufMessage): DescribedObject {
  const { name, comment, fieldsArray } = message;
  const fields = () => fieldsArray.map(describeField);
  return { kind: 'object', name, definition: message, doc: comment ?? undefined, fields };
}

function describeField(field: ProtobufField): DescribedField {
  const { protoName: name, comment, map, repeated, resolvedType, hasPresence, partOf } = field;
  const type = typeOf(field);
  const doc = comment ?? undefined;
  const isMessage = resolvedType !== null && !isEnum(resolvedType);
  if (map) return { name, doc, type: { kind: 'map', of: { type, isNullable: false } }, isNullable: false };
  if (repeated)
    return { name, doc, type: { kind: 'list', of: { type, isNullable: false } }, isNullable: false };
  const isOptional = Boolean(hasPresence) || isMessage || (partOf ?? undefined) !== undefined;
  return { name, doc, type, isNullable: isOptional && field.getOption('default') === undefined };
}

function typeOf({ type, resolvedType }: ProtobufField): Described {
  if (resolvedType === null) return scalarOf(SCALARS[type] ?? 'String');
  if (isEnum(resolvedType)) {
    const { name, valuesById, comment } = resolvedType;
    return {
      kind: 'enum',
      name,
      definition: resolvedType,
      values: Object.values(valuesById),
      doc: comment ?? undefined,
    };
  }
  const known = /^\.google\.protobuf\.(\w+)$/.exec(resolvedType.fullName)?.[1];
  const scalar = known === undefined ? undefined : WELL_KNOWN[known];
  return scalar === undefined ? describeProtobuf(resolvedType) : scalarOf(scalar);
}
