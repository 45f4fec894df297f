import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SnakeCase } from '../../../src/events/snake-case.ts';
import type { FieldSource, Topic } from '../../../src/graph/graph.ts';
import type { EventRecord, KafkaRecord } from '../../../src/ingest/record.ts';
import type { Schemas } from '../../../src/ingest/schemas/codec.ts';
import { knownEvents, TopicReader } from '../../../src/ingest/topic-reader.ts';
import { record, topic } from './parts.ts';

function readerOf(options: Partial<Topic>, schemas?: Schemas) {
  const reader = new TopicReader(topic('bids', options), schemas, new SnakeCase(), knownEvents());
  const read = (value: unknown, of: Partial<KafkaRecord> = {}, key: string | null = null) => {
    const bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
    return reader.read(record(bytes, of) as EventRecord, key);
  };
  return { reader, read };
}

const from = (sources: Record<string, FieldSource>) => new Map(Object.entries(sources));

describe('a change of Debezium', () => {
  const { read } = readerOf({ envelope: 'DEBEZIUM' });
  const row = { id: 1 };

  for (const [what, change, expected] of [
    ['created', { op: 'c', before: null, after: row }, row],
    ['updated', { op: 'u', before: { id: 0 }, after: row }, row],
    ['read by a snapshot', { op: 'r', after: row }, row],
    ['with its schema', { schema: { type: 'struct' }, payload: { op: 'c', after: row } }, row],
    ['within a payload alone', { payload: { op: 'c', after: row } }, row],
    ['a document of MongoDB', { op: 'c', after: '{"id":1}' }, row],
    ['deleted', { op: 'd', before: row, after: null }, 'deleted'],
    ['deleted, with its schema', { schema: {}, payload: { op: 'd', before: row } }, 'deleted'],
    ['emptied', { op: 't', before: null, after: null }, 'by_envelope'],
    ['a message', { op: 'm', message: {} }, 'by_envelope'],
    ['a heartbeat', { ts_ms: 5 }, 'by_envelope'],
    ['the end of a transaction', { status: 'END', id: '5', event_count: 1, ts_ms: 5 }, 'by_envelope'],
  ] as const) {
    it(`is the row, or no event: ${what}`, () => {
      assert.deepEqual(read(change), expected);
    });
  }

  for (const [what, value] of [
    ['the bare row', row],
    ['a row with a status', { order_id: 1, status: 'PAID', ts_ms: 1 }],
    ['a row with a time', { order_id: 1, ts_ms: 1 }],
    ['a list', []],
    ['a created row that is not there', { op: 'c', after: null }],
    ['an unknown operation', { op: 'x', after: row }],
  ] as const) {
    it(`is not found in ${what}`, () => {
      assert.throws(() => read(value), { reason: 'malformed', message: /^expected a change of Debezium/ });
    });
  }

  it('shows what is around the row by paths, in the names of the schema', () => {
    const sources = from({
      operation: { kind: 'path', path: 'op' },
      lsn: { kind: 'path', path: 'source.last_lsn' },
      former: { kind: 'path', path: 'before.unit_price' },
      missing: { kind: 'path', path: 'a.b.c' },
    });
    const change = { op: 'u', before: { unitPrice: 5 }, after: row, source: { lastLsn: 7 } };
    const expected = { ...row, operation: 'u', lsn: 7, former: 5, missing: null };
    assert.deepEqual(readerOf({ envelope: 'DEBEZIUM', from: sources }).read(change), expected);
  });
});

describe('a CloudEvent', () => {
  const data = { id: 1 };
  const attributes = { specversion: '1.0', id: 'a', source: '/shop', type: 'order.changed' };
  const sources = from({
    kind: { kind: 'path', path: 'type' },
    origin: { kind: 'path', path: 'source' },
    inner: { kind: 'path', path: 'data.id' },
  });
  const { read } = readerOf({ envelope: 'CLOUDEVENTS', from: sources });
  const expected = { ...data, kind: 'order.changed', origin: '/shop', inner: 1 };
  const headers = Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [`ce_${name}`, Buffer.from(value)]),
  );

  it('has its data in the value, and its attributes in headers', () => {
    assert.deepEqual(read(data, { headers }), expected);
  });

  it('has all of it in the value', () => {
    const structured = { 'content-type': Buffer.from('application/cloudevents+json; charset=utf-8') };
    assert.deepEqual(read({ ...attributes, data, id: 'b' }, { headers: structured }), expected);
    const binary = Buffer.from(JSON.stringify(data)).toString('base64');
    assert.deepEqual(read({ ...attributes, data_base64: binary, id: 'c' }), { ...expected, inner: null });
    const parts = Buffer.from(`[${'{},'.repeat(60_000)}{}]`).toString('base64');
    assert.throws(() => read({ ...attributes, data_base64: parts, id: 'd' }), { reason: 'too_large' });
  });

  it('is known again among the last 10,000 of its topic', () => {
    const one = readerOf({ envelope: 'CLOUDEVENTS' });
    const event = (id: string, offset: number) =>
      one.read(data, { headers: { ...headers, ce_id: Buffer.from(id) }, offset });
    for (let offset = 0; offset < 10_000; offset += 1) event(`id ${offset}`, offset);
    assert.equal(event('id 0', 10_000), 'duplicate');
    event('one more', 10_001);
    event('and one', 10_002);
    assert.equal(event('id 0', 10_003), 'duplicate');
    assert.deepEqual(event('id 1', 10_004), data);
  });

  it('may have an id as long as a message: memory is bounded, and the last ones are known', () => {
    const known = knownEvents();
    const reader = new TopicReader(
      topic('bids', { envelope: 'CLOUDEVENTS' }),
      undefined,
      new SnakeCase(),
      known,
    );
    const event = (id: string, offset: number) =>
      reader.read(
        record(Buffer.from('{"n":1}'), {
          headers: { ...headers, ce_id: Buffer.from(id) },
          offset,
        }) as EventRecord,
        null,
      );
    const long = 'x'.repeat(1_000_000);
    for (let offset = 0; offset < 20; offset += 1) event(`${long}${offset}`, offset);
    assert.equal(event(`${long}19`, 20), 'duplicate');
    const characters = [...known.keys()].reduce((sum, id) => sum + id.length, 0);
    assert.ok(characters <= 4 * 1024 * 1024, `${characters} characters`);
  });

  it('of the same source and id is taken once, and again if the same record is read again', () => {
    const one = readerOf({ envelope: 'CLOUDEVENTS' });
    assert.deepEqual(one.read(data, { headers, offset: 1 }), data);
    assert.deepEqual(one.read(data, { headers, offset: 1 }), data);
    assert.equal(one.read(data, { headers, offset: 2 }), 'duplicate');
    // The partition is read again from an earlier place.
    assert.deepEqual(one.read(data, { headers, offset: 0 }), data);
    assert.deepEqual(
      one.read(data, { headers: { ...headers, ce_source: Buffer.from('/other') }, offset: 3 }),
      data,
    );
  });

  for (const [what, value, reason] of [
    ['bare data', data, 'malformed'],
    ['data that is no object', { ...attributes, data: 5 }, 'malformed'],
    ['base64 of no JSON', { ...attributes, data_base64: 'eA==' }, 'not_json'],
  ] as const) {
    it(`is not found in ${what}`, () => {
      assert.throws(() => read(value), { reason });
    });
  }
});

describe('fields from elsewhere in the message', () => {
  it('come from headers, the key, the place and the time', () => {
    const sources = from({
      tenant: { kind: 'header', name: 'tenant' },
      none: { kind: 'header', name: 'none' },
      key: { kind: 'key' },
      at: { kind: 'metadata', name: 'TIMESTAMP' },
      offset: { kind: 'metadata', name: 'OFFSET' },
      partition: { kind: 'metadata', name: 'PARTITION' },
      topic: { kind: 'metadata', name: 'TOPIC' },
      deep: { kind: 'path', path: 'customer.address.city' },
    });
    const { read } = readerOf({ from: sources });
    const event = { customer: { address: { city: 'Ulm' } } };
    const headers = { tenant: [Buffer.from('a'), Buffer.from('b')] };
    assert.deepEqual(read(event, { headers, timestamp: -1, offset: 5, partition: 3 }, 'k'), {
      ...event,
      tenant: 'b',
      none: null,
      key: 'k',
      at: null,
      offset: 5,
      partition: 3,
      topic: 'bids',
      deep: 'Ulm',
    });
  });
});

const keyOf = (options: Partial<Topic>, key: string | Buffer | null) =>
  readerOf(options).reader.key(record('{}', { key: key === null ? null : Buffer.from(key) }));

describe('a field from elsewhere', () => {
  it('can not be written by the producer of the event, under any name', () => {
    const sources = from({ tenant_id: { kind: 'header', name: 'tenant' } });
    const { read } = readerOf({ from: sources });
    const event = read(
      { tenant_id: 'x', tenantId: 'evil', TenantId: 'evil' },
      { headers: { tenant: Buffer.from('good') } },
    );
    assert.deepEqual(event, { tenant_id: 'good' });
  });
});

describe('Kafka keys', () => {
  for (const [what, options, key, expected] of [
    ['text, without a format', {}, 'a"b', 'a"b'],
    ['none', { keyFormat: 'JSON' }, null, null],
    ['none, as null', { keyFormat: 'JSON' }, 'null', null],
    ['a text of JSON', { keyFormat: 'JSON' }, '"a"', 'a'],
    ['a number of JSON with all its digits', { keyFormat: 'JSON' }, '9007199254740993', '9007199254740993'],
    ['the only field of an object', { keyFormat: 'JSON' }, '{"id":5}', '5'],
    [
      'with Debezium’s schema',
      { keyFormat: 'JSON' },
      '{"schema":{"type":"struct"},"payload":{"id":"x"}}',
      'x',
    ],
    [
      'the field that events are routed by',
      { keyFormat: 'JSON', kafkaKey: 'order.order_id' },
      '{"orderId":5,"tenant":"a"}',
      '5',
    ],
    ['an object of several fields', { keyFormat: 'JSON' }, '{"a":1,"b":2}', '{"a":1,"b":2}'],
    ['behind the id of a JSON schema', { keyFormat: 'JSON_SCHEMA' }, Buffer.from('\0\0\0\0\u0005"a"'), 'a'],
  ] as const) {
    it(`are text: ${what}`, () => {
      assert.equal(keyOf(options as Partial<Topic>, key), expected);
    });
  }
});

function schemasOf(type: string, text: string) {
  const asked: string[] = [];
  const schemas: Schemas = {
    schema: async (kind, id) => {
      asked.push(`${kind} ${id}`);
      return { type, text, references: [] };
    },
  };
  return { asked, schemas };
}

describe('a schema of a registry', () => {
  const string = Buffer.from('0000000005026'.padEnd(14, '1'), 'hex');
  const schema = { type: 'record', name: 'R', fields: [{ name: 'a', type: 'string' }] };

  it('is asked for once, and then values are decoded at once', async () => {
    const { asked, schemas } = schemasOf('AVRO', JSON.stringify(schema));
    const { read } = readerOf({ format: 'AVRO' }, schemas);
    assert.deepEqual(await read(string), { a: 'a' });
    assert.deepEqual(read(string), { a: 'a' });
    assert.deepEqual(asked, ['id 5']);
  });

  for (const [what, type, text] of [
    ['of another format', 'PROTOBUF', JSON.stringify(schema)],
    ['that is none', 'AVRO', '{"type":"nonsense"}'],
  ] as const) {
    it(`${what} makes dead letters, and is not read again for each record`, async () => {
      const { asked, schemas } = schemasOf(type, text);
      const { read } = readerOf({ format: 'AVRO' }, schemas);
      await assert.rejects(async () => read(string), { reason: 'bad_schema' });
      assert.throws(() => read(string), { reason: 'bad_schema' });
      assert.equal(asked.length, 1);
    });
  }

  it('that is not there for a format which needs one makes dead letters', () => {
    assert.throws(() => readerOf({ format: 'AVRO' }).read(string), { reason: 'malformed' });
  });

  it('evolves: each message is decoded by its own', async () => {
    const newer = { ...schema, fields: [{ name: 'b', type: ['null', 'int'] }] };
    const schemas: Schemas = {
      schema: async (_, id) => ({
        type: 'AVRO',
        text: JSON.stringify(id === '5' ? schema : newer),
        references: [],
      }),
    };
    const { read } = readerOf({ format: 'AVRO' }, schemas);
    assert.deepEqual(await read(string), { a: 'a' });
    assert.deepEqual(await read(Buffer.from('000000000600', 'hex')), { b: null });
    assert.deepEqual(read(string), { a: 'a' });
  });
});
