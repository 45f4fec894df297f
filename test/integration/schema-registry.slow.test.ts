import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import avsc, { type Schema } from 'avsc';
import type { Message } from 'kafkajs';
import { asking } from '../e2e/graph-gateway.ts';
import { deferred } from '../helpers/deferred.ts';
import { eventually } from '../helpers/eventually.ts';
import { startReady, type GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { kafkaProducer } from '../helpers/kafka-client.ts';
import { serveHttp } from '../helpers/local-server.ts';
import { range } from '../helpers/numbers.ts';
import { Random } from '../helpers/random.ts';
import { podSettings, testNeeding } from '../helpers/services.ts';
import { createTopic } from '../helpers/topic.ts';

const it = testNeeding('kafka', 'redis');

const SEED = Number(process.env['SEED'] ?? 1);
const STEPS = Number(process.env['STEPS'] ?? 150);
const IDS = 10_000;

/** What an answer takes of a registry that is slow. */
const SLOW_MS = 5_000;

/** More than a pod asks for at a time. */
const SLOW_SCHEMAS = 40;
const AT_A_TIME = 32;

/** Confluent's API with schemas of the test's own, and how often each was asked for. */
class ScriptedRegistry {
  answerMs = 0;
  /** Answers wait for it, too. */
  gate: Promise<void> = Promise.resolve();
  /** Requests without an answer. */
  underWay = 0;
  readonly asked = new Map<string, number>();
  readonly #schemas: string[] = [];
  url = '';

  static async start(t: TestContext): Promise<ScriptedRegistry> {
    const registry = new ScriptedRegistry();
    registry.url = await serveHttp(t, ({ url = '' }, response) => {
      const body = registry.#answer(url);
      registry.underWay += 1;
      response.on('close', () => (registry.underWay -= 1));
      void Promise.all([delay(registry.answerMs), registry.gate]).then(() =>
        response.writeHead(body === undefined ? 404 : 200).end(body),
      );
    });
    return registry;
  }

  /** @returns its id */
  register(schema: Schema): number {
    return this.#schemas.push(JSON.stringify(schema));
  }

  #answer(url: string): string | undefined {
    if (url === '/schemas/types') return '["AVRO"]';
    const [, way, name = ''] = /^\/schemas\/(ids|guids)\/([\w-]+)$/.exec(url) ?? [];
    this.asked.set(url, (this.asked.get(url) ?? 0) + 1);
    const id = way === 'guids' ? Number.parseInt(name.slice(-8), 16) : Number(name);
    const schema = this.#schemas[id - 1];
    return schema === undefined ? undefined : JSON.stringify({ schema });
  }
}

/** The value behind its schema's id. */
function framed(id: number, value: Buffer): Message {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(id, 1);
  return { value: Buffer.concat([head, value]) };
}

/** The value, with the UUID of its schema in a header. */
function headed(id: number, value: Buffer): Message {
  const header = Buffer.alloc(17);
  header.writeUInt8(1);
  header.writeUInt32BE(id, 13);
  return { value, headers: { __value_schema_id: header } };
}

const GRAPH = (topic: string, other: string) => `
  type Subscription {
    row: Row @event(topic: "${topic}", format: AVRO)
    other: Other @event(topic: "${other}")
  }
  type Row { n: Int! text: String total: Float status: Status part: Part }
  type Part { must: String! }
  type Other { n: Int! }
  enum Status { OPEN PAID }`;

async function setUp(t: TestContext, podCount = 1) {
  const registry = await ScriptedRegistry.start(t);
  const [topic, other] = [await createTopic(t), await createTopic(t)];
  const producer = await kafkaProducer(t);
  const settings = {
    GRAPH: await graphFolder(t, { 'schema.graphql': GRAPH(topic, other) }),
    ...podSettings(topic),
    SCHEMA_REGISTRY_URL: registry.url,
  };
  const pods = await Promise.all(range(0, podCount).map(() => startReady(t, settings)));
  const send = (messages: Message[], to = topic) => producer.send({ topic: to, messages });
  return { registry, pods, send, other };
}

interface Row {
  readonly n: number;
  readonly text: string | null;
  readonly total: number | null;
  readonly status: string | null;
  readonly part: { readonly must: string } | null;
}

/** A subscription to all fields of the rows. */
async function rowsOf(t: TestContext, pod: GatewayProcess) {
  const before = await pod.metric('sluice_subscribers');
  const query = 'subscription { row { n text total status part { must } } }';
  const rows = asking<{ row: Row | null }>(t, pod, query);
  await pod.untilMetric('sluice_subscribers', before + 1);
  return rows;
}

type Field = [type: Schema, value: unknown, shown: unknown];

/** Fields that the producer's schema may have at some time, if any: with their values, and what subscribers get. */
const FIELDS: Readonly<Record<'text' | 'total' | 'status' | 'part', readonly (Field | null)[]>> = {
  text: [null, ['string', 'ü', 'ü'], [['null', 'string'], null, null], ['int', 7, '7'], ['long', 8, '8']],
  total: [null, ['double', 1.5, 1.5], ['int', 3, 3], [['null', 'double'], null, null]],
  status: [
    null,
    [enumOf('OPEN', 'PAID'), 'PAID', 'PAID'],
    [enumOf('PAID', 'OPEN'), 'OPEN', 'OPEN'],
    ['string', 'OPEN', 'OPEN'],
    [enumOf('LOST', 'OPEN'), 'LOST', new Error('no such value of the enum')],
  ],
  part: [
    null,
    [partOf('must'), { must: 'a' }, { must: 'a' }],
    [partOf('may', 'must'), { may: 'b', must: 'c' }, { must: 'c' }],
    [partOf('may'), { may: 'd' }, new Error('must is missing')],
  ],
};

function enumOf(...symbols: string[]): Schema {
  return { type: 'enum', name: 'Status', symbols };
}

function partOf(...names: string[]): Schema {
  return { type: 'record', name: 'Part', fields: names.map((name) => ({ name, type: 'string' as const })) };
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

/** The producer's next version: its schema, and what row `n` is then, as it is sent and as it is shown. */
function nextVersion(random: Random) {
  const chosen = Object.entries(FIELDS).map(([name, choices]) => [name, random.pick(choices)] as const);
  const present = chosen.flatMap(([name, field]) => (field === null ? [] : [{ name, field }]));
  const fields = [
    { name: 'n', type: 'int' as Schema },
    ...present.map(({ name, field: [type] }) => ({ name, type })),
  ];
  const schema = { type: 'record', name: 'Row', fields: shuffled(fields, random) } as Schema;
  const values = Object.fromEntries(present.map(({ name, field: [, value] }) => [name, value]));
  const shown = chosen.map(([name, field]) => [
    name,
    field?.[2] instanceof Error ? null : (field?.[2] ?? null),
  ]);
  const faults = present.filter(({ field }) => field[2] instanceof Error).map(({ name }) => name);
  return {
    schema,
    bytes: (n: number) => avsc.Type.forSchema(schema).toBuffer({ n, ...values }),
    shown: (n: number) => ({ n, ...(Object.fromEntries(shown) as object) }),
    faults: faults.toSorted(),
  };
}

describe('the schema registry of a topic', () => {
  it(`${STEPS} random versions of a producer's schema end no subscription, and lose nothing`, async (t) => {
    const { registry, pods, send } = await setUp(t, 2);
    const random = Random.of(SEED, 'evolution');
    const received = await Promise.all(pods.map((pod) => rowsOf(t, pod)));
    const expected: unknown[] = [];
    const sent: Message[][] = [];
    for (let step = 0; step < STEPS; step += 1) {
      const version = nextVersion(random);
      const id = registry.register(version.schema);
      const numbers = range(expected.length, expected.length + random.between(1, 4));
      const frame = random.chance(0.5) ? framed : headed;
      sent.push(numbers.map((n) => frame(id, version.bytes(n))));
      expected.push(...numbers.map((n) => ({ row: version.shown(n), faults: version.faults })));
    }
    for (const messages of sent) await send(messages);
    for (const rows of received) {
      await rows.until(expected.length);
      const seen = rows.results.map(({ data, errors = [] }) => {
        const faults = errors.map(({ path }) => String(path?.[1])).toSorted();
        return { row: data?.row, faults };
      });
      assert.deepEqual(seen, expected, `seed ${SEED}`);
    }
    assert.deepEqual(
      received.map(({ end }) => end),
      [undefined, undefined],
    );
    for (const pod of pods) assert.equal(await pod.metric('sluice_dead_letters_total'), 0);
  });

  it(`${IDS} schemas that appear together are asked for once each, and their events keep their order`, async (t) => {
    const { registry, pods, send } = await setUp(t);
    const [pod] = pods as [GatewayProcess];
    const rows = await rowsOf(t, pod);
    const messages = range(0, IDS).map((n) => {
      const schema: Schema = { type: 'record', name: `Row${n}`, fields: [{ name: 'n', type: 'int' }] };
      return framed(registry.register(schema), avsc.Type.forSchema(schema).toBuffer({ n }));
    });
    await send(messages);
    await rows.until(IDS);
    assert.deepEqual(
      rows.data.map((data) => data?.row?.n),
      range(0, IDS),
    );
    assert.equal(registry.asked.size, IDS);
    assert.equal(Math.max(...registry.asked.values()), 1);
    assert.equal(await pod.metric('sluice_dead_letters_total'), 0);
  });

  it(`a registry that takes ${SLOW_MS} ms for an answer, and a schema of 5 MB, hold up no other topic`, async (t) => {
    const { registry, pods, send, other } = await setUp(t);
    const [pod] = pods as [GatewayProcess];
    const rows = await rowsOf(t, pod);
    const others = asking<{ other: { n: number } }>(t, pod, 'subscription { other { n } }');
    await pod.untilMetric('sluice_subscribers', 2);
    registry.answerMs = SLOW_MS;
    const gate = deferred();
    registry.gate = gate.promise;
    const wide = wideSchema(20_000);
    assert.ok(JSON.stringify(wide).length > 5_000_000);
    const schemas = [wide, ...range(0, SLOW_SCHEMAS).map((index) => wideSchema(index))];
    await send(
      schemas.map((schema, n) =>
        framed(registry.register(schema), avsc.Type.forSchema(schema).toBuffer({ n })),
      ),
    );
    await send([{ value: '{ "n": 1 }' }], other);
    await others.until(1);
    assert.equal(rows.results.length, 0);
    await eventually(() => assert.equal(registry.underWay, AT_A_TIME));
    gate.resolve();
    await rows.until(schemas.length);
    assert.deepEqual(
      rows.data.map((data) => data?.row?.n),
      schemas.map((_, n) => n),
    );
    assert.equal(Math.max(...registry.asked.values()), 1);
    assert.equal(await pod.metric('sluice_dead_letters_total'), 0);
  });
});

/** A record of `n`, and of fields that events leave out. */
function wideSchema(count: number): Schema {
  const fields = [{ name: 'n', type: 'int' as Schema }, ...range(0, count).map(optionalField)];
  return { type: 'record', name: 'Row', fields } as Schema;
}

function optionalField(index: number) {
  const type: Schema = ['null', 'string'];
  return { name: `field${index}`, type, default: null, doc: 'x'.repeat(200) };
}
