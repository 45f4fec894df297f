import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../errors.ts';
import { namingOf } from '../formats/decoder.ts';
import { describeSchema } from '../formats/describe.ts';
import type { DescribedObject } from '../formats/described.ts';
import { writeSchema } from '../graph/encoding/written-types.ts';
import { UsageError } from './command.ts';
import { describedIn, formatOf, withRegistry } from './schema-registry.ts';

/** Files of a graph by path, made of the schema of a topic's messages. */
export type GraphFiles = Readonly<Record<string, string>>;

const EXPECTED = 'expected --from <file.avsc | file.proto[#Message] | file.json | subject:name>';
const SUBJECT = /^subject:(.+)$/;
/** Confluent's names of subjects. */
const OF_VALUES = /-value$/;

/**
 * Makes a graph of a schema: of a file of Avro, Protobuf or JSON Schema, or of the latest of a registry's subject.
 *
 * @throws UsageError if it can't be read, or SluiceError
 */
export async function graphFrom(from: string): Promise<GraphFiles> {
  const subject = SUBJECT.exec(from)?.[1];
  try {
    return subject === undefined ? await ofFile(from) : await ofSubject(subject);
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`${from}: ${messageOf(error)}`);
  }
}

async function ofSubject(subject: string): Promise<GraphFiles> {
  return withRegistry(async (registry) => {
    const schema = await registry.latest(subject);
    if (schema === undefined)
      throw new UsageError(`expected a subject of the registry, which has no ${subject}`);
    const event = describedIn(schema);
    return files(event, subject.replace(OF_VALUES, ''), `, format: ${formatOf(schema)}`);
  });
}

async function ofFile(from: string): Promise<GraphFiles> {
  const [, file = from, message] = /^(.+\.proto)(?:#(.+))?$/.exec(from) ?? [];
  const name = path.basename(file);
  const topic = path.parse(file).name;
  const extension = path.extname(file);
  if (!['.avsc', '.proto', '.json'].includes(extension)) throw new UsageError(`${EXPECTED}, got '${from}'`);
  const text = await readFile(file, 'utf8');
  if (extension === '.json') return files(describeSchema({ format: 'JSON_SCHEMA', text }), topic, '');
  const format = extension === '.avsc' ? 'AVRO' : 'PROTOBUF';
  const event = describeSchema({ format, text, message });
  const reference = message === undefined ? name : `${name}#${message}`;
  return { ...files(event, topic, `, format: ${format}, schema: "${reference}"`), [`graph/${name}`]: text };
}

function files(event: DescribedObject, topic: string, more: string): GraphFiles {
  const naming = namingOf('SNAKE');
  return { 'graph/schema.graphql': writeSchema(event, { topic, arguments: more, naming }) };
}
