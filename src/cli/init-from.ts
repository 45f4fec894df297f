import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { loadConfig } from '../config/config.ts';
import { messageOf } from '../errors.ts';
import { namingOf } from '../formats/decoder.ts';
import { describeSchema } from '../formats/describe.ts';
import { describeSamples } from '../formats/describe-samples.ts';
import { typeNameOf, type DescribedObject } from '../formats/described.ts';
import { writeSchema } from '../graph/encoding/written-types.ts';
import { kafkaConnection } from '../ingest/kafka/connection.ts';
import { KafkajsDeadLetterKafka } from '../ingest/kafka/kafkajs/dead-letter-kafka.ts';
import type { KafkaRecord } from '../ingest/record.ts';
import { readFrame } from '../ingest/schemas/schema-id.ts';
import { createLog } from '../log.ts';
import { UsageError } from './command.ts';
import { describedIn, formatOf, withRegistry } from './schema-registry.ts';

/** Files of a graph by path, made of the schema of a topic's messages. */
export type GraphFiles = Readonly<Record<string, string>>;

const EXPECTED = 'expected --from <file.avsc | file.proto[#Message] | file.json | subject:name | topic:name>';
const ELSEWHERE = /^(subject|topic):(.+)$/;

/** Messages of a topic that are looked at. */
const SAMPLES = 500;

/** Confluent's names of subjects. */
const OF_VALUES = /-value$/;

/**
 * Makes a graph of a schema: of a file of Avro, Protobuf or JSON Schema, of the latest of a registry's subject, or of the first
 * messages of a topic.
 *
 * @throws UsageError if it can't be read, or SluiceError
 */
export async function graphFrom(from: string): Promise<GraphFiles> {
  const [, place, name = ''] = ELSEWHERE.exec(from) ?? [];
  try {
    if (place === undefined) return await ofFile(from);
    return place === 'subject' ? await ofSubject(name) : await ofTopic(name);
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

async function ofTopic(topic: string): Promise<GraphFiles> {
  const records = await samplesOf(topic);
  const values = records.flatMap(({ value }) => value ?? []);
  if (values.length === 0) throw new UsageError(`expected messages in the topic ${topic}, got none`);
  const jsons = values.flatMap((value) => jsonIn(value) ?? []);
  if (jsons.length > 0) return files(describeSamples(jsons, typeNameOf(topic)), topic, '');
  const first = records.find(({ value }) => value !== null);
  const { kind, id } = readFrame(first?.value ?? Buffer.alloc(0), first?.headers, 'value', false);
  return withRegistry(async (registry) => {
    const schema = await registry.schema(kind, id);
    return files(describedIn(schema), topic, `, format: ${formatOf(schema)}`);
  });
}

/** The first messages of a topic. @throws UsageError */
async function samplesOf(topic: string): Promise<KafkaRecord[]> {
  const config = loadConfig(process.env);
  if (config.KAFKA_BROKERS.length === 0)
    throw new UsageError('expected KAFKA_BROKERS in the environment, got nothing');
  const log = createLog('silent');
  const kafka = new KafkajsDeadLetterKafka(kafkaConnection(config, log), config, log);
  const [missing] = await kafka.missingTopics([topic]);
  if (missing !== undefined) throw new UsageError(`expected a topic of Kafka, which has no ${topic}`);
  const reader = await kafka.open(topic, new Map());
  const samples: KafkaRecord[] = [];
  try {
    for (const partition of reader.partitions) {
      for (let next = await partition.next(); next !== undefined; next = await partition.next()) {
        samples.push(...next.slice(0, SAMPLES - samples.length));
        if (samples.length >= SAMPLES) return samples;
      }
    }
    return samples;
  } finally {
    await reader.close();
  }
}

/** @returns undefined if it is no JSON */
function jsonIn(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString()) as unknown;
  } catch {
    return undefined;
  }
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
