import type { EnvelopeName, FormatName } from '../graph.ts';

/** How the messages of a topic are encoded, as `@event` says. */
export interface Encoding {
  readonly format: FormatName;
  /** Undefined: keys are text. */
  readonly keyFormat: FormatName | undefined;
  /** File in the graph's folder with the schema of values, `orders.proto#acme.Order`; undefined: the registry has it. */
  readonly schema: string | undefined;
  readonly keySchema: string | undefined;
  readonly envelope: EnvelopeName;
}

const FORMATS: ReadonlySet<unknown> = new Set<FormatName>(['JSON', 'AVRO', 'PROTOBUF', 'JSON_SCHEMA']);
const ENVELOPES: ReadonlySet<unknown> = new Set<EnvelopeName>(['DEBEZIUM', 'CLOUDEVENTS']);

/** @param values of the arguments of `@event`, which fit their types */
export function readEncoding(values: Readonly<Record<string, unknown>>): Encoding {
  const { format, keyFormat, schema, keySchema, envelope } = values;
  return {
    format: FORMATS.has(format) ? (format as FormatName) : 'JSON',
    keyFormat: FORMATS.has(keyFormat) ? (keyFormat as FormatName) : undefined,
    schema: typeof schema === 'string' ? schema : undefined,
    keySchema: typeof keySchema === 'string' ? keySchema : undefined,
    envelope: ENVELOPES.has(envelope) ? (envelope as EnvelopeName) : 'NONE',
  };
}

/** Formats whose values can't be read without their schema. */
export function needsSchema(format: FormatName | undefined): format is 'AVRO' | 'PROTOBUF' {
  return format === 'AVRO' || format === 'PROTOBUF';
}
