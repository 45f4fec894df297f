import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { test } from 'node:test';
import protobufjs from 'protobufjs';
import descriptors from 'protobufjs/ext/descriptor.js';
import { snakeCase } from '../../src/events/snake-case.ts';
import { avroDecoder } from '../../src/formats/avro.ts';
import { protobufDecoder } from '../../src/formats/protobuf.ts';
import { ProtobufSchema } from '../../src/formats/protobuf-schema.ts';
import { asking, startGraph } from '../e2e/graph-gateway.ts';
import { eventually } from '../helpers/eventually.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { Random } from '../helpers/random.ts';
import { RegistryProcess } from '../helpers/schema-registry.ts';
import { kafkaBrokers, needs, podSettings } from '../helpers/services.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createTopic } from '../helpers/topic.ts';
import { avscType, RandomSchemas, randomValue } from '../unit/formats/avro-schemas.ts';
import { RandomFile } from '../unit/formats/protobuf-files.ts';
import { KafkaPython } from './kafka-python.ts';

const SEEDS = Number(process.env['SEEDS'] ?? 300);
const FROM = Number(process.env['SEED'] ?? 1);

const CLI = path.join(import.meta.dirname, '../../src/cli.js');

const ALL = needs('kafka', 'redis', 'kafka-python', 'apicurio');

/** Without the names of records, which Python's decoder does not give. */
function unnamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unnamed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => name !== '__typename');
  return Object.fromEntries(entries.map(([name, item]) => [name, unnamed(item)]));
}

test(
  `${SEEDS} random schemas and values of Avro are decoded as Python decodes them`,
  needs('kafka-python'),
  async (t) => {
    const python = new KafkaPython(t, false);
    for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
      const random = Random.of(seed, 'python');
      const schema = new RandomSchemas(random).record(4);
      const text = JSON.stringify(schema);
      const bytes = avscType(schema).toBuffer(randomValue(schema, random));
      const decoded = avroDecoder(text, [], undefined, snakeCase)(bytes);
      assert.deepEqual(unnamed(decoded), await python.decodeAvro(text, bytes), `seed ${seed}`);
    }
  },
);

interface CompiledMessage {
  readonly oneofDecl?: readonly { readonly name: string }[];
  readonly field?: readonly { readonly oneofIndex?: number }[];
}

/** A .proto file as a compiler writes it, in base64. */
function compiled(text: string): string {
  const { root } = protobufjs.parse(text, new protobufjs.Root(), { keepCase: true });
  root.resolveAll();
  const set = root as unknown as {
    toDescriptor(edition: string): { file: { messageType: CompiledMessage[] }[] };
  };
  const [file] = set.toDescriptor('proto3').file;
  const messageType = file?.messageType.map(inOrder);
  const whole = { ...file, messageType, syntax: 'proto3' };
  return Buffer.from(descriptors.FileDescriptorProto.encode(whole).finish()).toString('base64');
}

/** A compiler puts the oneofs that stand for optional fields behind all others. */
function inOrder(message: CompiledMessage): CompiledMessage {
  const { oneofDecl = [], field = [] } = message;
  const ordered = oneofDecl.toSorted(
    (one, other) => Number(one.name.startsWith('_')) - Number(other.name.startsWith('_')),
  );
  const moved = field.map((one) => {
    const oneof = one.oneofIndex === undefined ? undefined : oneofDecl[one.oneofIndex];
    return oneof === undefined || !Object.hasOwn(one, 'oneofIndex')
      ? one
      : { ...one, oneofIndex: ordered.indexOf(oneof) };
  });
  return { ...message, oneofDecl: ordered, field: moved };
}

/** Numbers as text, as JSON of Protobuf has those of 64 bits, and without what is null. */
function texts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(texts);
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([name, item]) => [name, texts(item)]));
}

test(
  `${SEEDS} random files and values of Protobuf are decoded as Python decodes them`,
  needs('kafka-python'),
  async (t) => {
    const python = new KafkaPython(t, false);
    for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
      const file = new RandomFile(Random.of(seed, 'python'));
      const type = protobufjs
        .parse(file.text, new protobufjs.Root(), { keepCase: true })
        .root.lookupType('acme.M0');
      const bytes = Buffer.from(type.encode(type.fromObject(file.value())).finish());
      const schema = compiled(file.text);
      const decoded = protobufDecoder(
        new ProtobufSchema(schema, []).message([0]),
        undefined,
        snakeCase,
      )(bytes);
      assert.deepEqual(
        texts(decoded),
        texts(await python.decodeProtobuf(schema, 'acme.M0', bytes)),
        `seed ${seed}`,
      );
    }
  },
);

const FIELDS = 'order_id: ID! total: Float note: String at: String status: String big: Long';

const ROW = {
  orderId: 7,
  total: 1.5,
  note: 'ü',
  at: '2026-01-31T09:00:00.500Z',
  status: 'PAID',
  big: '9007199254740993',
};
const SHOWN = {
  order_id: '7',
  total: 1.5,
  note: 'ü',
  at: '2026-01-31T09:00:00.500Z',
  status: 'PAID',
  big: '9007199254740993',
};

const ROW_AVRO = {
  type: 'record',
  name: 'Row',
  fields: [
    { name: 'orderId', type: 'long' },
    { name: 'total', type: 'double' },
    { name: 'note', type: ['null', 'string'] },
    { name: 'at', type: 'string' },
    { name: 'status', type: { type: 'enum', name: 'Status', symbols: ['OPEN', 'PAID'] } },
    { name: 'big', type: 'long' },
  ],
};
const CHANGE_AVRO = {
  type: 'record',
  name: 'Envelope',
  fields: [
    { name: 'before', type: ['null', ROW_AVRO] },
    { name: 'after', type: ['null', 'Row'] },
    { name: 'op', type: 'string' },
    { name: 'ts_ms', type: 'long' },
  ],
};

const ROW_PROTO = `enum Status { OPEN = 0; PAID = 1; }
  message Row { int64 orderId = 1; double total = 2; string note = 3; string at = 4; Status status = 5; int64 big = 6; }`;
const ROW_FILE = `syntax = "proto3"; package acme; ${ROW_PROTO}`;
const CHANGE_FILE = `syntax = "proto3"; package acme; ${ROW_PROTO} message Envelope { Row before = 1; Row after = 2; string op = 3; int64 ts_ms = 4; }`;

const JSON_SCHEMA = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' };
const ROW_JSON = { ...JSON_SCHEMA, title: 'Row', properties: { orderId: { type: 'integer' } } };
const CHANGE_JSON = { ...JSON_SCHEMA, title: 'Envelope', properties: { op: { type: 'string' } } };

/** A case of `format × envelope`, with what its producer needs. */
const CASES = [
  { format: 'AVRO', registered: 'AVRO', row: JSON.stringify(ROW_AVRO), change: JSON.stringify(CHANGE_AVRO) },
  { format: 'PROTOBUF', registered: 'PROTOBUF', row: compiled(ROW_FILE), change: compiled(CHANGE_FILE) },
  {
    format: 'JSON_SCHEMA',
    registered: 'JSON',
    row: JSON.stringify(ROW_JSON),
    change: JSON.stringify(CHANGE_JSON),
  },
] as const;

const CLOUD = { ce_specversion: '1.0', ce_id: 'a', ce_source: '/shop', ce_type: 'paid' };

for (const { format, registered, row, change } of CASES) {
  test(`${format} in each envelope, from Python’s serializer to a subscription`, ALL, async (t) => {
    const registry = await RegistryProcess.start(t);
    const python = new KafkaPython(t);
    await python.connect(registry.url);
    const [bare, changes, events] = [await createTopic(t), await createTopic(t), await createTopic(t)];
    const gateway = await startGraph(
      t,
      {
        'schema.graphql': `scalar Long
          type Subscription {
            bare: Bare @event(topic: "${bare}", format: ${format})
            change(order_id: ID): Change @event(topic: "${changes}", format: ${format}, envelope: DEBEZIUM, key: "order_id")
            event: Event @event(topic: "${events}", format: ${format}, envelope: CLOUDEVENTS)
          }
          type Bare { ${FIELDS} tenant: String @from(header: "tenant") offset: Int @from(metadata: OFFSET) key: String @from(key: true) }
          type Change { ${FIELDS} op: String @from(path: "op") former: Long @from(path: "before.big") }
          type Event { ${FIELDS} kind: String @from(path: "type") }`,
      },
      { ...podSettings(bare), SCHEMA_REGISTRY_URL: registry.url },
    );
    const fields = 'order_id total note at status big';
    const watched = {
      bare: asking(t, gateway, `subscription { bare { ${fields} tenant offset key } }`),
      change: asking(t, gateway, `subscription { change(order_id: 7) { ${fields} op former } }`),
      event: asking(t, gateway, `subscription { event { ${fields} kind } }`),
    };
    await subscribed(gateway, 3);
    const number = format === 'PROTOBUF' ? ROW.big : 9_007_199_254_740_993n;
    const value = { ...ROW, big: format === 'PROTOBUF' ? number : 2 ** 52 };
    const big = format === 'PROTOBUF' ? ROW.big : String(2 ** 52);
    const given = { format: registered, message: 'acme.Row' };
    await python.produce({
      ...given,
      topic: bare,
      schema: row,
      values: [value],
      headers: { tenant: 'eu' },
      key: 'k',
    });
    await python.produce({ ...given, topic: events, schema: row, values: [value, value], headers: CLOUD });
    const [after, deleted] = [
      { before: { ...value, orderId: 7 }, after: value, op: 'u', ts_ms: 5 },
      { before: value, after: null, op: 'd', ts_ms: 6 },
    ];
    const gone = format === 'PROTOBUF' ? { before: value, op: 'd' } : deleted;
    const envelope = { ...given, message: 'acme.Envelope', topic: changes, schema: change };
    await python.produce({ ...envelope, values: [after, gone, { ...after, op: 'c' }] });
    const expected = { ...SHOWN, big };
    await watched.bare.until(1);
    await watched.change.until(2);
    await watched.event.until(1);
    assert.deepEqual(watched.bare.results, [
      { data: { bare: { ...expected, tenant: 'eu', offset: 0, key: 'k' } } },
    ]);
    const changed = ['u', 'c'].map((op) => ({ data: { change: { ...expected, op, former: big } } }));
    assert.deepEqual(watched.change.results, changed);
    assert.deepEqual(watched.event.results, [{ data: { event: { ...expected, kind: 'paid' } } }]);
    assert.equal(await gateway.metric('sluice_dead_letters_total'), 0);
  });
}

async function subscribed(gateway: GatewayProcess, count: number): Promise<void> {
  await gateway.untilReady();
  await gateway.untilMetric('sluice_subscribers', count);
}

const NUMBERED = (more = '') =>
  JSON.stringify({
    type: 'record',
    name: 'R',
    fields: [
      { name: 'n', type: 'int' },
      ...(more === '' ? [] : [{ name: more, type: ['null', 'string'], default: null }]),
    ],
  });

test(
  'while the registry is away, only messages of schemas that the pod does not know wait, and nothing is lost',
  ALL,
  async (t) => {
    const registry = await RegistryProcess.start(t);
    const python = new KafkaPython(t);
    await python.connect(registry.url);
    const [topic, other] = [await createTopic(t, { partitions: 2 }), await createTopic(t)];
    const gateway = await startGraph(
      t,
      {
        'schema.graphql': `type Subscription {
          numbered: R @event(topic: "${topic}", format: AVRO)
          other: R @event(topic: "${other}")
        }
        type R { n: Int! text: String }`,
      },
      { ...podSettings(topic), SCHEMA_REGISTRY_URL: registry.url },
    );
    const numbered = asking<{ numbered: { n: number; text: string | null } }>(
      t,
      gateway,
      'subscription { numbered { n text } }',
    );
    const others = asking<{ other: { n: number } }>(t, gateway, 'subscription { other { n } }');
    await subscribed(gateway, 2);
    const given = { topic, format: 'AVRO' } as const;
    await python.produce({ ...given, schema: NUMBERED(), values: [{ n: 0 }] });
    await numbered.until(1);
    // The producer knows the id of the newer schema; the pod does not.
    const newer = NUMBERED('text');
    const values = [
      { n: 1, text: 'a' },
      { n: 2, text: null },
    ];
    await python.serialize({ ...given, schema: newer, values });
    await registry.kill();
    await assert.rejects(fetch(registry.url));
    const held = python.produce({
      ...given,
      schema: newer,
      values: [
        { n: 1, text: 'a' },
        { n: 2, text: null },
      ],
      partition: 1,
    });
    await held.catch(() => undefined);
    await python.produce({ ...given, schema: NUMBERED(), values: [{ n: 3 }], partition: 0 });
    await python.produce({ topic: other, values: [{ n: 4 }] });
    await others.until(1);
    await numbered.until(2);
    assert.deepEqual(
      numbered.results.map(({ data }) => data?.numbered.n),
      [0, 3],
    );
    await eventually(async () => {
      const ingest = await (await fetch(`${gateway.adminUrl}/debug/ingest`)).text();
      assert.match(ingest, /the schema registry can not be asked/);
    });
    assert.equal((await fetch(`${gateway.adminUrl}/readyz`)).status, 200);
    await registry.start();
    await python.connect(registry.url);
    await python.register(`${topic}-value`, 'AVRO', NUMBERED());
    await python.register(`${topic}-value`, 'AVRO', newer);
    await numbered.until(4);
    const seen = numbered.results.map(({ data }) => [data?.numbered.n, data?.numbered.text]);
    assert.deepEqual(seen, [
      [0, null],
      [3, null],
      [1, 'a'],
      [2, null],
    ]);
    assert.equal(numbered.end, undefined);
    assert.equal(await gateway.metric('sluice_dead_letters_total'), 0);
  },
);

test(
  'a project begins with the types of a subject or of a topic, and is compared with the registry',
  ALL,
  async (t) => {
    const registry = await RegistryProcess.start(t);
    const python = new KafkaPython(t);
    await python.connect(registry.url);
    const [framed, bare] = [await createTopic(t), await createTopic(t)];
    const schema = JSON.stringify(ROW_AVRO);
    await python.produce({ topic: framed, format: 'AVRO', schema, values: [{ ...ROW, big: 1 }] });
    await python.produce({
      topic: bare,
      values: [
        { orderId: 1, note: null },
        { orderId: 2, note: 'x', total: 1.5 },
      ],
    });
    const folder = await temporaryFolder(t);
    const sluice = async (...args: string[]): Promise<string> => {
      const env = {
        PATH: process.env['PATH'],
        KAFKA_BROKERS: kafkaBrokers(),
        SCHEMA_REGISTRY_URL: registry.url,
      };
      return (await promisify(execFile)(process.execPath, [CLI, ...args], { env })).stdout;
    };
    const written = async (name: string, from: string): Promise<string> => {
      const project = path.join(folder, name);
      await sluice('init', project, '--from', from);
      return readFile(path.join(project, 'graph/schema.graphql'), 'utf8');
    };
    const ofSubject = await written('subject', `subject:${framed}-value`);
    assert.ok(
      ofSubject.includes(
        `row_changed(order_id: [ID!]!): Row @event(topic: "${framed}", key: "order_id", format: AVRO)`,
      ),
      ofSubject,
    );
    assert.match(ofSubject, /big: Long!/);
    assert.equal(await written('framed', `topic:${framed}`), ofSubject);
    const ofTopic = await written('bare', `topic:${bare}`);
    assert.match(ofTopic, /order_id: ID!\n {2}note: String\n {2}total: Float\n/);
    const graph = path.join(folder, 'framed/graph');
    assert.match(await sluice('check', graph, '--registry', '--no-types'), /^0 errors, 0 warnings/);
    await writeFile(
      path.join(graph, 'schema.graphql'),
      ofSubject.replace('big: Long!', 'big: Boolean!\n  gone: Int'),
    );
    const said = await sluice('check', graph, '--registry', '--no-types');
    assert.match(said, /Row\.big is Boolean!, and a Long by the subject /);
    assert.match(said, /Row\.gone is always null/);
  },
);
