import { readAvroSchema } from './avro-schema.ts';
import { SchemaFault } from './schema-fault.ts';
import { describeAvro } from './describe-avro.ts';
import { describeJsonSchema } from './describe-json-schema.ts';
import { describeProtobuf } from './describe-protobuf.ts';
import type { DescribedObject } from './described.ts';
import { ProtobufSchema, type MessageChoice, type ProtobufMessage } from './protobuf-schema.ts';

interface SchemaSource {
  readonly format: 'AVRO' | 'PROTOBUF' | 'JSON_SCHEMA';
  readonly text: string;
  /** Schemas that it uses, each behind those that it uses itself. */
  readonly references?: readonly { readonly name: string; readonly text: string }[];
  /** Which message of a .proto file. @default the first one that no other message of the file holds */
  readonly message?: MessageChoice | undefined;
}

/**
 * Describes the objects that follow a schema.
 *
 * @throws SchemaFault, or SluiceError MISSING_PACKAGE
 */
export function describeSchema({ format, text, references = [], message }: SchemaSource): DescribedObject {
  const { type } =
    format === 'AVRO'
      ? describeAvro(readAvroSchema(text, textsOf(references)))
      : format === 'PROTOBUF'
        ? { type: describeProtobuf(messageIn(new ProtobufSchema(text, references), message)) }
        : describeJsonSchema(text);
  if (type.kind === 'object') return type;
  throw new SchemaFault(`expected a schema of objects, got one of another kind: ${type.kind}`);
}

function messageIn(schema: ProtobufSchema, choice: MessageChoice | undefined): ProtobufMessage {
  return choice === undefined ? schema.outermost() : schema.message(choice);
}

export function textsOf(references: readonly { readonly text: string }[]): string[] {
  return references.map(({ text }) => text);
}

/** The row that a change of Debezium holds, by the schema of the change; the object itself if it is no change. */
export function rowIn(described: DescribedObject): DescribedObject {
  const after = described.fields().find(({ name }) => name === 'after')?.type;
  return after?.kind === 'object' ? after : described;
}
